@testable import AppMigrations

/// The errors about protected files: what failed, the system's words, and what follows from it.
extension MigrationErrorTests {
    private static let wayOut =
        "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:) gives it up: the files stay as they are then"

    private static func row(_ stage: ProtectionStage, _ error: any Error, _ text: String) -> Row {
        Row(.protectionFailed, location.protection(stage, AppVersion("1.2"), error), text)
    }

    static let places: [Row] = [
        row(
            .taking,
            Platform.mounted("/data/disk"),
            "The files that migration 1.2 protects could not be copied by manager \"Library\": /data/disk: Invalid "
                + "cross-device link (rename, errno 18). Nothing was run and nothing changed. Mend that and make a new manager."
        ),
        row(
            .restoring,
            SystemCallError(call: "write", errorNumber: 28, path: "/data/file"),
            "The files that migration 1.2 protects could not be put back by manager \"Library\": /data/file: No space left "
                + "on device (write, errno 28). Their copy in /d/Library.migrations.snapshot is kept, and the next start "
                + "tries again. Don't write to those files before it succeeded. \(wayOut), and the copy in a folder beside "
                + "the state."
        ),
        row(
            .clearing,
            full,
            "The copy /d/Library.migrations.snapshot, which nothing needs any more, could not be removed by manager "
                + "\"Library\": /d/Library.migrations.snapshot: No space left on device (write, errno 28). No data is concerned; the next start that takes "
                + "the lock tries again."
        ),
    ]
}
