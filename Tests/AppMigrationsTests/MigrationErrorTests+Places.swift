@testable import AppMigrations

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
                + "aside whatever is at this path. The next manager then begins with a first run."
        ),
    ]
}
