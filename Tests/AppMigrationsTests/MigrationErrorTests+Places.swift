@testable import AppMigrations

/// The errors about protected files: what failed, the system's words, and what follows from it.
extension MigrationErrorTests {
    private static let wayOut =
        "To abandon the restore, call MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:): the files stay as they are"

    private static func row(_ stage: ProtectionStage, _ error: any Error, _ text: String) -> Row {
        Row(.protectionFailed, location.protectionError(stage, of: AppVersion("1.2"), because: error), text)
    }

    static let places: [Row] = [
        row(
            .copying,
            SystemCallError.mounted("/data/disk"),
            "The files that migration 1.2 protects could not be copied in manager \"Library\" (/d/Library.migrations.json): /data/disk: Invalid "
                + "cross-device link (rename, errno 18). The migration was not run and no file was changed. Fix the problem and create a new "
                + "manager."
        ),
        row(
            .restoring,
            SystemCallError(call: "write", errorNumber: 28, path: "/data/file"),
            "The files that migration 1.2 protects could not be restored in manager \"Library\" (/d/Library.migrations.json): /data/file: No space left "
                + "on device (write, errno 28). The copies are kept, and the next start tries again to "
                + "restore the files. Don't write to those files before a start has succeeded. \(wayOut), and the copies are moved to a folder next to the state."
        ),
        row(
            .cleaningUp,
            full,
            "Copies of protected files that are no longer needed could not be removed in manager \"Library\" (/d/Library.migrations.json): "
                + "/d/Library.migrations.snapshot: No space left on device (write, errno 28). The protected files are not affected. A "
                + "later start tries again to remove the copies."
        ),
    ]
}

/// The errors that have to do with files.
extension MigrationErrorTests {
    static let reading: [Row] = [
        Row(
            .stateUnreadable,
            .unreadable(SystemCallError(call: "open", errorNumber: 5), at: location),
            "\(state) could not be read: Input/output error (open, errno 5). Try again when the file can be read, for "
                + "example after the first unlock of the device. If it still can't be read, correct its permissions or its "
                + "path."
        ),
        Row(
            .stateUnreadable,
            .gone(location),
            "\(state) existed when the manager was created, but it no longer exists. Create a new "
                + "manager, which begins with a first run."
        ),
        Row(
            .stateFromNewerFormat,
            thrown { try MigrationState(document: Array("{ \"format\": 2 }".utf8), at: location) },
            "\(state) has format 2, but this release of the library reads only formats up to 1. Use a newer release of the "
                + "app."
        ),
        Row(
            .stateCorrupted,
            .notRegular(location),
            "\(state) is not a regular file, or is larger than 1 MiB. The state was left unchanged. Put the state file itself at "
                + "this path. A symbolic link isn't followed, because the next save would replace it. If the state is lost, "
                + "call MigrationManager.forgetState(named:stateDirectory:lockTimeout:), which moves "
                + "aside whatever is at this path. The next manager then begins with a first run. Copies of protected files may be in "
                + "/d/Library.migrations.snapshot. A first run moves them to another folder and keeps them. If you repair "
                + "the file by hand, keep its \"interruption\" member: without it, the next start deletes the copies."
        ),
    ]
}
