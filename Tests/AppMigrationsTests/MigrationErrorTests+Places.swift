@testable import AppMigrations

/// The errors about places in protected trees.
extension MigrationErrorTests {
    private static let wayOut =
        "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:) gives it up: the files stay as they are then, and the copy in "
        + "a folder beside the state."

    static let places: [Row] = [
        Row(
            .protectionFailed,
            .protection(.obstacle(.mountPoint("/data/disk"), .taking), location, AppVersion("1.2")),
            "The files that migration 1.2 protects could not be copied by manager \"Library\": a file system is mounted at "
                + "/data/disk, inside of what is protected; name what is on it, and what is beside it, by paths of their "
                + "own. Nothing was run and nothing changed. Mend that and make a new manager."
        ),
        Row(
            .protectionFailed,
            .protection(.obstacle(.mountPoint("/data/disk"), .restoring), location, AppVersion("1.2")),
            "The files that migration 1.2 protects could not be put back by manager \"Library\": a file system is mounted "
                + "at /data/disk, inside of what is protected; it was not there when the copy was made: unmount it. Their "
                + "copy in /d/Library.migrations.snapshot is kept, and the next start tries again. Don't write to those "
                + "files before it succeeded. \(wayOut)"
        ),
        Row(
            .protectionFailed,
            .protection(.obstacle(.unmounted("/disk/data"), .restoring), location, AppVersion("1.2")),
            "The files that migration 1.2 protects could not be put back by manager \"Library\": the file system that "
                + "/disk/data was on is not mounted. Their copy in /d/Library.migrations.snapshot is kept, and the next "
                + "start tries again. Don't write to those files before it succeeded. \(wayOut)"
        ),
        Row(
            .protectionFailed,
            .protection(.obstacle(.mounted("/disk/data"), .restoring), location, AppVersion("1.2")),
            "The files that migration 1.2 protects could not be put back by manager \"Library\": a file system is mounted "
                + "where /disk/data was on another one; unmount it. Their copy in /d/Library.migrations.snapshot is kept, "
                + "and the next start tries again. Don't write to those files before it succeeded. \(wayOut)"
        ),
        Row(
            .protectionFailed,
            .protection(
                .incomplete("/d/Library.migrations.snapshot/0", ["/data"]),
                location,
                AppVersion("1.2")
            ),
            "The files that migration 1.2 protects could not be put back by manager \"Library\": the state lists a copy of "
                + "/data, and files were removed from /d/Library.migrations.snapshot/0 or added to it since. Nothing was "
                + "changed. Bring that copy back and start again. "
                + "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:) gives it up: the files stay as they are then."
        ),
        Row(
            .protectionFailed,
            .protection(.obstacle(.link("/data/inner"), .restoring), location, AppVersion("1.2")),
            "The files that migration 1.2 protects could not be put back by manager \"Library\": /data/inner is a link that "
                + "was put there since the copy was made; remove it, or put the folder that it leads to "
                + "in its place. Their copy in /d/Library.migrations.snapshot is kept, and "
                + "the next start tries again. Don't write to those files before it succeeded. \(wayOut)"
        ),
    ]
}
