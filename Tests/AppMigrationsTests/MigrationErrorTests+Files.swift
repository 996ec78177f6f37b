@testable import AppMigrations

/// The errors that have to do with files.
extension MigrationErrorTests {
    static let saving: [Row] = [
        Row(
            .stateNotSaved,
            .notSaved(
                SaveFailure(cause: full, isRenamed: false, leftover: nil),
                nil,
                location,
                consequence: "Nothing was run."
            ),
            "\(state) could not be saved: No space left on device (write, errno 28). The old state stands. Nothing was "
                + "run. Make room, or the folder writable, and start again."
        ),
        Row(
            .stateNotSaved,
            .notSaved(
                SaveFailure(cause: full, isRenamed: false, leftover: full),
                nil,
                location,
                consequence: "The end."
            ),
            "\(state) could not be saved: No space left on device (write, errno 28). The old state stands. "
                + "/d/Library.migrations.json.tmp could not be removed either: No space left on device (write, errno 28). "
                + "The end. Make room, or the folder writable, and start again."
        ),
        Row(
            .stateNotSaved,
            .notSaved(
                SaveFailure(cause: full, isRenamed: true, leftover: nil),
                nil,
                location,
                consequence: "The end."
            ),
            "\(state) was saved, but may not survive a power failure: No space left on device (write, errno 28). The new "
                + "state stands. The end."
        ),
        Row(
            .stateNotSaved,
            .notRemoved(full, location),
            "\(state) could not be removed for good: No space left on device (write, errno 28). Make the folder writable "
                + "for this process and try again."
        ),
        Row(
            .stateNotSaved,
            .notSaved(
                SaveFailure(cause: LockLoss.gone, isRenamed: false, leftover: nil),
                nil,
                location,
                consequence: "The mark was not set."
            ),
            "Manager \"Library\" doesn't have the lock /d/Library.migrations.lock any more: its file is not at that path "
                + "any more, or its descriptor was closed. Nothing was written to /d/Library.migrations.json without it. "
                + "The mark was not set. Make a new manager, which reads the state again; never remove the lock's file, "
                + "and close in a closure only what it opened."
        ),
        Row(
            .stateNotSaved,
            .lockLost(
                .unknown(SystemCallError(call: "lstat", errorNumber: 13)),
                nil,
                location,
                consequence: "The state was not removed."
            ),
            "Manager \"Library\" doesn't have the lock /d/Library.migrations.lock any more: its file can't be looked at, "
                + "Permission denied (lstat, errno 13). Nothing was written to /d/Library.migrations.json without it. "
                + "The state was not removed. Make a new manager, which reads the state again; never remove the lock's "
                + "file, and close in a closure only what it opened."
        ),
        Row(
            .stateNotSaved,
            .lock(.unavailable(SystemCallError(call: "open", errorNumber: 13)), location),
            "The lock of manager \"Library\", /d/Library.migrations.lock, could not be taken: Permission denied (open, "
                + "errno 13). Nothing was run and the state is unchanged. Make the folder writable for this process and "
                + "start again."
        ),
    ]

    static let reading: [Row] = [
        Row(
            .stateUnreadable,
            .unreadable(SystemCallError(call: "open", errorNumber: 5), location),
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
            thrown {
                try MigrationState(document: Array("{ \"format\": 2 }".utf8), at: location)
            },
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
