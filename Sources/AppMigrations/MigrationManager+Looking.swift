/// What a manager does that only looks.
extension MigrationManager {
    /// Throws where this manager may not change anything.
    package func requireWritable() throws(MigrationError) {
        if options.isReadOnly { throw .readOnly(file.location) }
    }

    /// Ends a declaration of a manager that only looks.
    func look(at declaration: Declarations.Declaration) throws(MigrationError) {
        do throws(MigrationError) {
            let state = try readState()
            try declarations.withLock { declarations throws(MigrationError) in
                try declarations.look(at: declaration, state.marks)
            }
        } catch {
            declarations.withLock { $0.close(error) }
            throw error
        }
    }

    /// What the state says now: read again from the file, at each call.
    ///
    /// It changes nothing, and works for a closed manager too, in a closure, and where a newer app was here. Where there is no
    /// state, the status says so. A look at the lock tells a migration that is under way from one whose process died; it keeps no
    /// other process from it for longer than that look.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted` or `stateFromNewerFormat`.
    public var status: MigrationStatus {
        get throws(MigrationError) {
            var state = try file.readState()
            var isUnderWay: Bool? = false
            while let interrupted = state?.marks.interruption, interrupted.failure == nil {
                do throws(SystemCallError) {
                    isUnderWay = try FileLock.isTaken(file.location)
                } catch {
                    isUnderWay = nil
                }
                if isUnderWay == true { break }
                // The process may have recorded its migration before the lock was looked at.
                let again = try file.readState()
                if again == state { break }
                state = again
            }
            return MigrationStatus(state, of: file.location, current: currentVersion, isUnderWay: isUnderWay)
        }
    }

    /// The state as it stands, or as this manager takes it to be where there is none yet.
    func readState() throws(MigrationError) -> MigrationState { try known(file.readState()) }

    func known(_ found: MigrationState?) throws(MigrationError) -> MigrationState {
        if let found { return found }
        guard isPresuming else { throw .gone(file.location) }
        return MigrationState(name: name, marks: declarations.withLock { $0.marks })
    }

    /// Whether there was no state, and none was made.
    var isPresuming: Bool { options.isReadOnly && launch == .first }
}
