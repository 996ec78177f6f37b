import AppMigrationsSchema
import AppMigrationsTesting
import GRDB

// Sample 8 of Testing.md
