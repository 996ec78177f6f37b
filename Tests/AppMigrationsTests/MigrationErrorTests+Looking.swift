@testable import AppMigrations

/// The errors of a manager that only looks.
extension MigrationErrorTests {
    static let looking: [Row] = [
        Row(
            .readOnly,
            .readOnly(location, AppVersion("1.2")),
            "Migration 1.2 is pending and was not run: this manager of \"Library\", /d/Library.migrations.json, was made with "
                + "isReadOnly, and only looks. Nothing was written. Make a manager without isReadOnly for it; plan and status "
                + "show it without one."
        ),
        Row(
            .readOnly,
            .readOnly(location),
            "Nothing was changed: this manager of \"Library\", /d/Library.migrations.json, was made with isReadOnly, and only "
                + "looks. Nothing was written. Make a manager without isReadOnly for it; plan and status show it without one."
        ),
    ]
}
