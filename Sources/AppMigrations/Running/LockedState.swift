/// A state while its lock is held: each read, save, restore and removal under the lock goes through here.
///
/// The lock guards only what its path leads to. So before anything is written the file that is locked has to be the one
/// at the path: where another file stands there, another process may have the state.
final class LockedState {
    let file: StateFile
    private var lock: FileLock

    /// What stands in the file as far as this holder knows.
    private var known: MigrationState?

    var location: StateLocation { file.location }
    var identity: FileIdentity { lock.identity }

    init(_ file: StateFile, _ lock: FileLock) {
        self.file = file
        self.lock = lock
    }

    /// Reads the state; what was known of it before the lock was taken may be outdated.
    @inline(never)
    func read() throws(MigrationError) -> MigrationState? {
        known = try file.readState()
        return known
    }

    func save(_ state: MigrationState) throws(SaveFailure) {
        do throws(LockLoss) {
            try confirm()
        } catch {
            throw SaveFailure(cause: error, isRenamed: false, leftover: nil)
        }
        do throws(SaveFailure) {
            try file.save(state)
        } catch {
            if error.isRenamed { known = state }
            throw error
        }
        known = state
    }

    func remove() throws(MigrationError) {
        do throws(LockLoss) {
            try confirm()
        } catch {
            throw .lockLost(error, nil, location, consequence: "The state was not removed.")
        }
        do throws(SystemCallError) {
            try file.remove()
        } catch {
            throw .notRemoved(error, location)
        }
        known = nil
    }

    /// Throws when the lock is not the one at its path, or not this process's.
    func confirm() throws(LockLoss) {
        if lock.process != Platform.process { throw .inChild(of: lock.process) }
        do throws(SystemCallError) {
            if try lock.stands(at: location) { return }
        } catch {
            throw .unknown(error)
        }
        throw .gone
    }

    /// After code of the app ran, which may have removed the folder of the state or closed the lock's descriptor: takes
    /// the lock again where nobody else did anything with the state meanwhile.
    func takeAgain() throws(LockLoss) {
        do throws(LockLoss) {
            return try confirm()
        } catch {
            guard error.isMendable else { throw error }
        }
        guard let new = try free() else { throw .taken }
        // From here on the new one is the lock that is given back, whatever comes.
        lock.unlock()
        lock = new
        let found: MigrationState?
        do throws(MigrationError) {
            found = try file.readState()
        } catch {
            throw .notAgain(error)
        }
        // What the app's code removed is made again. What differs was saved by a process that had the lock.
        if let found, found != known { throw .overwritten }
    }

    private func free() throws(LockLoss) -> FileLock? {
        do throws(MigrationError) {
            return try FileLock.ifFree(location, isClaimant: true)
        } catch {
            throw .notAgain(error)
        }
    }

    func unlock() { lock.unlock() }
}

/// How a process came to have no lock any more that it had taken.
struct LockLoss: Error, CustomStringConvertible {
    let description: String
    let isMendable: Bool
    let cause: (any Error)?

    private init(_ description: String, isMendable: Bool = false, _ cause: (any Error)? = nil) {
        self.description = description
        self.isMendable = isMendable
        self.cause = cause
    }

    static var gone: LockLoss {
        LockLoss("its file is not at that path any more, or its descriptor was closed", isMendable: true)
    }

    static var taken: LockLoss { LockLoss("another process has taken it since") }

    static var overwritten: LockLoss { LockLoss("another process has saved a state since") }

    static func inChild(of parent: Int32) -> LockLoss {
        LockLoss("this process is a child that process \(parent), which has the lock, made by fork")
    }

    static func unknown(_ cause: SystemCallError) -> LockLoss {
        LockLoss("its file can't be looked at, \(cause)", cause)
    }

    static func notAgain(_ cause: MigrationError) -> LockLoss {
        LockLoss("it could not be taken again, \(cause)", cause)
    }
}

extension SaveFailure {
    var lockLoss: LockLoss? { cause as? LockLoss }
}
