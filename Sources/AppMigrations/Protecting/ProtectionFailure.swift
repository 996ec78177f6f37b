/// Why files could not be copied, or not be put back: what stands in the way, and where.
///
/// The holder of the lock adds for which manager and migration. One reference, as every error here: what is thrown is copied in
/// every function that it passes.
final class ProtectionFailure: Error {
    /// What was being done when it failed.
    enum Stage { case taking, restoring, missing, noting, withdrawing, abandoning, keeping, clearing }

    let stage: Stage
    let path: String
    let reason: Message
    let cause: (any Error)?

    init(_ path: String, _ reason: Message, _ stage: Stage, _ cause: (any Error)? = nil) {
        self.path = path
        self.reason = reason
        self.stage = stage
        self.cause = cause
    }

    /// Explains what `body` throws: with the path of the failed call, or with `path`.
    static func explaining<Value>(
        _ stage: Stage,
        at path: String,
        _ body: () throws -> Value
    ) throws(ProtectionFailure) -> Value {
        do {
            return try body()
        } catch let failure as ProtectionFailure {
            throw failure
        } catch let failure as FileTree.Failure {
            throw .failed(failure.cause, failure.path, stage)
        } catch let obstacle as FileTree.Obstacle {
            throw .obstacle(obstacle, stage)
        } catch {
            throw .failed(error, path, stage)
        }
    }

    static func failed(_ cause: any Error, _ path: String, _ stage: Stage) -> ProtectionFailure {
        let isUnnameable = (cause as? SystemCallError)?.errorNumber == Platform.notText
        let reason: Message =
            isUnnameable
            ? "\(path) leads through a folder whose name is no UTF-8, so no path can name it"
            : "\(path): \(cause)"
        return ProtectionFailure(path, reason, stage, cause)
    }

    static func unprotectable(_ path: String, _ reason: Message, _ stage: Stage = .taking)
        -> ProtectionFailure
    {
        ProtectionFailure(path, "\(path.quoted) can't be protected, since \(reason)", stage)
    }

    static func incomplete(_ folder: String, _ paths: [String]) -> ProtectionFailure {
        let reason: Message =
            """
            the state lists a copy of \(paths.joined(separator: ", ")), and files were removed from \(folder) or \
            added to it since
            """
        return ProtectionFailure(folder, reason, .missing)
    }

    static func snapshotMissing(_ path: String, _ paths: [String]) -> ProtectionFailure {
        let reason: Message =
            "the state lists a copy of \(paths.joined(separator: ", ")), and \(path) is not there"
        return ProtectionFailure(path, reason, .missing)
    }

    static func noRoom(needed: UInt64, free: UInt64, in directory: String) -> ProtectionFailure {
        let reason: Message =
            "they take \(needed) bytes, and \(free) are free in \(directory): \(needed - free) are missing"
        return ProtectionFailure(directory, reason, .taking)
    }

    static func tooManyPaths(_ count: Int, size: Int, limit: Int, in state: String) -> ProtectionFailure {
        let reason: Message =
            """
            their \(count) paths take \(size) bytes in \(state), which has room for \(limit); name the folder \
            that holds them
            """
        return ProtectionFailure(state, reason, .taking)
    }

    static func foreign(_ path: String, _ reason: Message, _ stage: Stage) -> ProtectionFailure {
        let text: Message =
            """
            \(path) \(reason), and a list of files that somebody else wrote could overwrite any file; let it belong to \
            this user and be written to by nobody else (chown, chmod go-w)
            """
        return ProtectionFailure(path, text, stage)
    }

    static func moved(
        _ old: String,
        to path: String,
        with former: String,
        to directory: String
    ) -> ProtectionFailure {
        let reason: Message =
            """
            the state was moved from \(former) to \(directory) without them, \(old) would be put back to \
            \(path); move the state back, or the files after it
            """
        return ProtectionFailure(path, reason, .restoring)
    }

    /// What stands where protected files are, or their state, and can't be copied or put back over.
    static func obstacle(_ obstacle: FileTree.Obstacle, _ stage: Stage) -> ProtectionFailure {
        switch obstacle {
        case .special(let path):
            return ProtectionFailure(path, "\(path) is neither a file, a folder nor a link", stage)
        case .mountPoint(let path):
            let advice: Message =
                stage == .taking
                ? "name what is on it, and what is beside it, by paths of their own"
                : "it was not there when the copy was made: unmount it"
            let reason: Message =
                "a file system is mounted at \(path), inside of what is protected; \(advice)"
            return ProtectionFailure(path, reason, stage)
        case .unmounted(let path):
            return ProtectionFailure(path, "the file system that \(path) was on is not mounted", stage)
        case .mounted(let path):
            let reason: Message = "a file system is mounted where \(path) was on another one; unmount it"
            return ProtectionFailure(path, reason, stage)
        case .link(let path):
            let reason: Message = """
                \(path) is a link that was put there since the copy was made; remove it, or put the folder that it leads \
                to in its place
                """
            return ProtectionFailure(path, reason, stage)
        }
    }
}
