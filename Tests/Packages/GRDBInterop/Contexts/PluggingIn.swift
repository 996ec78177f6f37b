// Sample 1 of PluggingInAnotherMigrator.md
