@testable import AppMigrations

/// The errors about protected files: what failed, the system's words, and what follows from it.
extension MigrationErrorTests {
    private static let wayOut =
        "To give the restore up, call MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:): the files stay as they are"

    private static func row(_ stage: ProtectionStage, _ error: any Error, _ text: String) -> Row {
        Row(.protectionFailed, location.protectionError(stage, of: AppVersion("1.2"), because: error), text)
    }

    static let places: [Row] = [
        row(
            .copying,
            SystemCallError.mounted("/data/disk"),
            "The files that migration 1.2 protects could not be copied in manager \"Library\" (/d/Library.migrations.json): /data/disk: Invalid "
                + "cross-device link (rename, errno 18). The migration was not run and no file was changed. Fix that and create a new "
                + "manager."
        ),
        row(
            .restoring,
            SystemCallError(call: "write", errorNumber: 28, path: "/data/file"),
            "The files that migration 1.2 protects could not be restored in manager \"Library\" (/d/Library.migrations.json): /data/file: No space left "
                + "on device (write, errno 28). The copies are kept, and the next start tries again. Don't write to those files before "
                + "it has succeeded. \(wayOut), and the copies are moved to a folder next to the state."
        ),
        row(
            .cleaningUp,
            full,
            "Copies of protected files that are no longer needed could not be removed in manager \"Library\" (/d/Library.migrations.json): "
                + "/d/Library.migrations.snapshot: No space left on device (write, errno 28). The protected files are not affected. The "
                + "next start that takes the lock tries again."
        ),
    ]
}

/// The errors that have to do with files.
extension MigrationErrorTests {
    static let reading: [Row] = [
        Row(
            .stateUnreadable,
            .unreadable(SystemCallError(call: "open", errorNumber: 5), at: location),
            "\(state) could not be read: Input/output error (open, errno 5). Nothing was run or written. Try again when "
                + "the file can be read, for instance after the device's first unlock; where that is no matter of time, "
                + "change its rights or its path."
        ),
        Row(
            .stateUnreadable,
            .gone(location),
            "\(state) was there when the manager was made and is gone. Nothing was run or written. Make a new manager; "
                + "it will be a first run."
        ),
        Row(
            .stateFromNewerFormat,
            thrown { try MigrationState(document: Array("{ \"format\": 2 }".utf8), at: location) },
            "\(state) has format 2; this release of the library reads up to 1. Nothing was run or written. Start a newer "
                + "release of the app."
        ),
        Row(
            .stateCorrupted,
            .notRegular(location),
            "\(state) is not a regular file of at most 1 MiB. Nothing was run, and what stands there was left as it is. Put "
                + "the state's file itself at this path: a link isn't followed, since a save would replace it. Where the "
                + "state is lost, move away what stands there: the next manager is a first run then. A first run puts copies of "
                + "protected files, /d/Library.migrations.snapshot, aside. In a repair keep \"interruption\", or put that folder "
                + "aside before: copies that no state lists are removed."
        ),
    ]
}
