import Synchronization

extension MigrationRun {
    var isProtecting: Bool { state.marks.interrupted.map { !$0.protected.isEmpty } ?? false }
}

extension MigrationManager {
    /// After an attempt that isn't recorded: puts the protected files back, saves the intent with the failure
    /// and without the list, and only then removes the snapshot.
    ///
    /// Gives a sentence about it for the error.
    func putBack(_ run: MigrationRun, failure: String) throws(MigrationError) -> String {
        var state = run.state
        let version = run.context.version
        state.marks.interrupted?.failure = String(failure.unicodeScalars.prefix(MigrationState.failureLimit))
        guard run.isProtecting else {
            return saveAttempt(state, version)
                ? "" : " The attempt could not be noted either and counts as a death."
        }
        do throws(MigrationError) {
            try FileSnapshot(file.location).restore(run.state.marks.interrupted?.protected ?? [], version)
        } catch {
            _ = saveAttempt(state, version)
            throw error
        }
        options.onEvent?(MigrationEvent(.restored, name, version: version))
        state.marks.interrupted?.protected = []
        guard saveAttempt(state, version) else {
            return " The protected files are what they were before it, but that could not be noted: the next start puts "
                + "them back again. Don't write to them before."
        }
        removeSnapshot(version)
        return " The protected files are what they were before it."
    }

    /// The attempt's end is noted if it can be: the error that ended it is the one to report.
    private func saveAttempt(_ state: MigrationState, _ version: AppVersion) -> Bool {
        do throws(SaveFailure) {
            try file.save(state)
            core.withLock { $0.marks = state.marks }
            return true
        } catch {
            if error.isRenamed { core.withLock { $0.marks = state.marks } }
            return false
        }
    }

    /// Removes a snapshot that nothing refers to any more.
    func removeSnapshot(_ version: AppVersion?) {
        file.removeSnapshot(version, options: options)
    }
}

extension StateFile {
    /// Under the lock: what the intent of a dead process protected is put back before anyone can write newer data over
    /// it, and a snapshot without an intent is cleared away.
    func recover(_ state: inout MigrationState, options: MigrationManager.Options) throws(MigrationError) {
        let snapshot = FileSnapshot(location)
        let version = state.marks.interrupted?.version
        if let interrupted = state.marks.interrupted, !interrupted.protected.isEmpty {
            try snapshot.restore(interrupted.protected, version)
            state.marks.interrupted?.protected = []
            do throws(SaveFailure) {
                try save(state)
            } catch {
                throw .protection(error.cause, location.state, location, version, .noting)
            }
            options.onEvent?(MigrationEvent(.restored, location.name, version: version))
            removeSnapshot(version, options: options)
        } else {
            removeSnapshot(version, options: options)
        }
    }

    func removeSnapshot(_ version: AppVersion?, options: MigrationManager.Options) {
        do throws(MigrationError) {
            try FileSnapshot(location).remove()
        } catch {
            options.onEvent?(
                MigrationEvent(.leftoverNotRemoved, location.name, version: version, error: error)
            )
        }
    }
}
