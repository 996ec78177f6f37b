// Sample 2 of AnotherMigrator.md

// Sample 3 of AnotherMigrator.md
