import AppMigrationsSchema
import AppMigrationsTesting
import GRDB

// Sample 9 of Testing.md
