import SimulatedSystem

/// Checks that the simulated system moves folders, locks files and loses power as a real one does.
///
/// A search finds nothing that the system can't do. So this is asked before each.
enum SystemCheck {
    static func failures() -> [String] {
        var failures: [String] = []
        func require(_ isSo: Bool, _ sentence: String) { if !isSo { failures.append(sentence) } }

        prepare()
        require(rename("/app", "/app/notes/app") == -1 && errno == EINVAL, "a folder can't go into itself")
        require(rename("/app", "/empty") == 0, "a folder takes the place of an empty one")
        require(find("/empty/notes/f") == "old", "what is in a folder goes with it")
        require(Machine.system.disk.find("/app") == nil, "a folder that went has left its name")
        let (above, moved) = (Machine.system.disk.find("/empty/.."), Machine.system.disk.find("/"))
        require(above == moved, "a folder that went has another one above it")
        require(rename("/empty/notes", "/full") == -1 && errno == ENOTEMPTY, "a full folder keeps its place")
        require(rename("/full/f", "/empty/notes") == -1 && errno == EISDIR, "a file can't replace a folder")
        require(rename("/empty", "/full/f") == -1 && errno == ENOTDIR, "a folder can't replace a file")

        require(rename("/full/f", "/other/f") == -1 && errno == EXDEV, "nothing goes to another file system")
        require(rename("/other", "/full/other") == -1 && errno == EBUSY, "what is mounted keeps its name")
        require(rmdir("/other") == -1 && errno == EBUSY, "what is mounted isn't removed")
        let (one, other) = (status("/"), status("/other"))
        require(
            one.st_dev != other.st_dev && one.st_ino == other.st_ino,
            "file systems differ by their device"
        )

        require(requests([LOCK_SH, LOCK_SH]) == [0, 0], "two share a lock")
        require(
            requests([LOCK_SH, LOCK_EX]) == [0, EWOULDBLOCK],
            "nobody has a lock alone that another shares"
        )
        require(
            requests([LOCK_EX, LOCK_SH]) == [0, EWOULDBLOCK],
            "nobody shares a lock that another has alone"
        )

        let moves = losses { _ = rename("/app/notes", "/kept") }
        require(moves == ["/app/notes/f=old", "/kept/f=old"], "a folder has one of its names: \(moves)")
        let rewritten = losses {
            Files.make("/app/notes/f", "NEW!")
            _ = rename("/app/notes", "/kept")
        }
        let apart = ["/app/notes/f=NE", "/app/notes/f=NEW!", "/app/notes/f=old"]
        require(
            rewritten == apart + apart.map { $0.replacing("/app/notes", with: "/kept") },
            "names and bytes are lost apart: \(rewritten)"
        )
        let nested = losses {
            _ = mkdir("/new", 0o700)
            _ = rename("/app/notes", "/new/notes")
            _ = rename("/new/notes", "/kept")
        }
        require(
            nested == ["/app/notes/f=old", "/kept/f=old", "/new/notes/f=old"],
            "no folder is lost on its way: \(nested)"
        )
        let synced = losses {
            _ = mkdir("/new", 0o700)
            _ = rename("/app/notes", "/new/notes")
            _ = fsync(open("/new", O_RDONLY | O_DIRECTORY))
        }
        require(synced == ["/new/notes/f=old"], "a move is durable with the folder: \(synced)")
        return failures
    }

    private static func prepare() {
        Machine.system = SystemState()
        for number in 0..<2 { Execution.begin(number, start: 0) }
        Machine.current = 0
        for folder in ["/app", "/app/notes", "/empty", "/full"] { _ = mkdir(folder, 0o700) }
        Machine.system.disk.mount("other", in: "/")
        Files.make("/app/notes/f", "old")
        Files.make("/full/f", "full")
    }

    private static func find(_ path: String) -> String? { Files.text(path) }

    private static func status(_ path: String) -> stat {
        var found = stat()
        _ = lstat(path, &found)
        return found
    }

    /// The answers to two processes that ask for the lock of one file.
    private static func requests(_ operations: [Int32]) -> [Int32] {
        prepare()
        return operations.indices.map { process in
            Machine.current = process
            defer { Machine.current = 0 }
            let file = open("/full/f", O_RDONLY)
            return flock(file, operations[process] | LOCK_NB) == 0 ? 0 : errno
        }
    }

    /// Where a power loss may leave the file, and with which bytes.
    private static func losses(after body: () -> Void) -> [String] {
        var found: Set<String> = []
        var choices = Choices(allowance: Int.max)
        repeat {
            prepare()
            Machine.system.disk.startTrackingSyncs()
            body()
            Machine.system.disk.losePower { count in
                if choices.isRepeating { return choices.repeated(among: count) }
                return choices.begin(count, isFree: true)
            }
            let places = ["/app/notes/f", "/new/notes/f", "/kept/f"].compactMap { path in
                find(path).map { path + "=" + $0 }
            }
            found.insert(places.joined(separator: " "))
        } while choices.advance()
        return found.sorted()
    }
}
