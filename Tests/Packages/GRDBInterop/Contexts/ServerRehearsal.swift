import AppMigrationsSchema
import AppMigrationsTesting
import GRDB

// Sample 3 of AServerWithGRDB.md
