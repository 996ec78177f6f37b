/// A state whose lock this process holds.
///
/// Only this type saves a state. It can only be made from a lock that was taken, and where it ends, the lock
/// is released. An ``Attempt`` releases the lock earlier, and saves nothing after that.
///
/// The lock is a file at a known path. If that file is removed or replaced, another process can lock the new
/// file and use the state at the same time. So just before anything is written, ``save(_:)`` checks that the
/// locked file is still at that path.
struct LockedState: ~Copyable {
    let location: StateLocation
    let lock: FileLock

    /// The state as this process last read or saved it; `nil` if there is no state.
    ///
    /// While a closure runs, it also contains the running attempt with the checkpoint that was saved last.
    private(set) var state: MigrationState?

    /// False if the caller releases the lock itself, after this value has ended.
    private var releasesLock = true

    /// Reads the state under a lock that the caller has just taken.
    ///
    /// A state that was read before the lock was taken may be outdated.
    init(_ lock: FileLock, at location: StateLocation) throws(MigrationError) {
        self.init(lock, at: location, state: try StateFile(location: location).readState())
    }

    /// Makes a locked state from a lock that the caller holds, and the state that it read while holding it.
    init(_ lock: FileLock, at location: StateLocation, state: MigrationState?) {
        self.location = location
        self.lock = lock
        self.state = state
    }

    /// Reads the state under a lock that the caller releases itself.
    ///
    /// So the lock is still held when this value ends.
    init(keeping lock: FileLock, at location: StateLocation) throws(MigrationError) {
        try self.init(lock, at: location)
        releasesLock = false
    }

    deinit { if releasesLock { lock.unlock() } }

    /// Returns the state.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable` if there is no state. It existed when the
    ///   manager was created, so it has been removed since then.
    func existing() throws(MigrationError) -> MigrationState {
        if let state { return state }
        throw .gone(location)
    }
}

extension LockedState {
    /// What a save has done.
    enum SaveOutcome {
        case saved

        /// The file has the old state.
        case unchanged(MigrationError)

        /// The file has the new state, but it couldn't be synced, so a power failure may bring the old one
        /// back.
        case notDurable(MigrationError)

        /// The lock was lost, so that another process may be using the state.
        ///
        /// Nothing was written, and nothing may be written any more.
        case lockLost(MigrationError)

        var error: MigrationError? {
            switch self {
            case .saved: nil
            case .unchanged(let error), .notDurable(let error), .lockLost(let error): error
            }
        }
    }

    /// Saves a state.
    mutating func save(_ new: MigrationState) -> SaveOutcome {
        if let loss = lossOfLock() { return .lockLost(loss) }
        do throws(MigrationError) {
            guard let document = try new.documentToSave(at: location) else {
                return .unchanged(tooLargeError())
            }
            try replaceState(with: document)
        } catch {
            return .unchanged(error)
        }
        state = new
        do throws(MigrationError) {
            try synchronizeState()
            return .saved
        } catch {
            return .notDurable(error)
        }
    }

    /// Syncs the name of the state's file to disk.
    ///
    /// A process that died after it had renamed the new file may not have done that.
    func synchronizeState() throws(MigrationError) {
        do throws(SystemCallError) {
            try Platform.synchronize(location.directory)
        } catch {
            throw location.error(
                .stateNotSaved,
                because: error,
                "The new state of \(location) was saved, but may not survive a power failure: \(error)."
            )
        }
    }

    /// Saves a state, and throws if that failed.
    ///
    /// If the file has the old state, the error ends in `outcome`.
    mutating func save(
        _ new: MigrationState,
        version: AppVersion? = nil,
        orEndIn outcome: Message
    ) throws(MigrationError) {
        switch save(new) {
        case .saved: return
        case .notDurable(let error): throw error
        case .unchanged(let error), .lockLost(let error):
            throw error.ending(in: .text(outcome), version: version)
        }
    }

    private func replaceState(with document: [UInt8]) throws(MigrationError) {
        do throws(SystemCallError) {
            // Before the first state is saved, the directory and all folders above it are synced, so that a
            // power failure can't remove them. This process may not have created the directory: another
            // process may have created it and crashed before it synced the folders. Links in the path aren't
            // resolved, because this library didn't create the folder that a link leads to.
            if state == nil {
                try FileTree.synchronizeFolders(from: [FilePaths.parent(location.directory)], upTo: "/")
            }
            try StateFile(location: location).replace(with: document)
        } catch {
            throw location.error(
                .stateNotSaved,
                because: error,
                "The state of \(location) could not be saved: \(error). The file has the old state.",
                advice: "Make room on the disk, or make the folder writable, and start the app again."
            )
        }
    }

    /// Makes the error for a state that is too large: the next read would refuse it.
    private func tooLargeError() -> MigrationError {
        location.error(
            .stateNotSaved,
            """
            The state of \(location) could not be saved: it would be larger than 1 MiB, even without the rows of its history. \
            The file has the old state.
            """,
            advice: """
                If the file has JSON members that this library didn't write, remove them. Otherwise call \
                MigrationManager.forgetState(named:stateDirectory:lockTimeout:), and answer firstRun: with existingData(at:) and the \
                version of the data.
                """
        )
    }

    /// The error if the locked file isn't at the lock's path any more; `nil` if it is.
    ///
    /// The app's code may have removed it, and another process may have locked a new file at that path.
    func lossOfLock() -> MigrationError? {
        do throws(SystemCallError) {
            if try lock.isCurrentFile(at: location) { return nil }
            return lossError(reason: "its file was removed or replaced")
        } catch {
            return lossError(reason: "its file could not be examined, \(error)", because: error)
        }
    }

    private func lossError(reason: Message, because cause: SystemCallError? = nil) -> MigrationError {
        location.error(
            .stateNotSaved,
            at: location.lock,
            because: cause,
            "The lock of \(location) is lost: \(reason). Since then, nothing was written to the state.",
            advice: """
                Never remove or replace \(location.lock). Create a new manager, which reads the state again.
                """
        )
    }

    /// Moves whatever is at the state's path aside, even if it can't be read.
    ///
    /// - Returns: The new path.
    mutating func moveStateAside() throws(MigrationError) -> String {
        if let loss = lossOfLock() { throw loss }
        let path: String
        do throws(SystemCallError) {
            path = try StateFile(location: location).moveAside(at: Platform.now)
        } catch {
            let text: Message = """
                The state of \(location) could not be moved aside: \(error). The state is unchanged. Make the folder writable \
                for this process and try again.
                """
            throw location.error(.stateNotSaved, because: error, text)
        }
        state = nil
        do throws(SystemCallError) {
            try Platform.synchronize(location.directory)
        } catch {
            let text: Message = """
                The state of \(location) was moved to \(path), but a power failure may undo the move: \(error). The next manager \
                begins with a first run.
                """
            throw location.error(.stateNotSaved, because: error, text)
        }
        return path
    }
}
