/// Protected files under the lock: put back, and their copies removed.
extension LockedState {
    /// Puts back what the intent of a dead process protected, before anyone can write newer data over it, and clears away a
    /// snapshot that no intent lists.
    func recover() throws(MigrationError) {
        guard let state else { return }
        if let interrupted = state.marks.interruption, !interrupted.protected.isEmpty {
            try restore(interrupted)
            try finishRestore(state)
        } else if discardSnapshot(state.marks.interruption?.version, synchronizing: true) {
            if state.marks.hasSpentSnapshot { forgetSnapshot() }
        }
    }

    /// Moves copies aside that stand there before the first state, which was lost with the list of them.
    ///
    /// They may be the only good ones, and beside a state that doesn't list them they would be removed.
    func keepUnlisted() throws(MigrationError) {
        let kept: String?
        do throws(ProtectionFailure) {
            kept = try FileSnapshot(location, lock).keepUnlisted()
        } catch {
            throw .protection(error, location, nil)
        }
        guard let kept else { return }
        send(MigrationEvent(.leftoverNotRemoved, location.name, error: .unlisted(kept, location)))
    }

    /// Puts files back, if the lock is the one at its path.
    func restore(_ interrupted: Interruption) throws(MigrationError) {
        try confirm(or: .restoring, for: interrupted.version)
        do throws(ProtectionFailure) {
            try FileSnapshot(location, lock).restore(interrupted) { fraction, note in
                self.sendProgress(fraction, note, interrupted.version, attempt: interrupted.attempts)
            }
        } catch {
            throw .protection(error, location, interrupted.version)
        }
    }

    /// Tells of files that are being copied or put back.
    func sendProgress(_ fraction: Double, _ note: String, _ version: AppVersion, attempt: Int) {
        send(
            MigrationEvent(
                .progressed,
                location.name,
                version: version,
                previousVersion: state?.marks.lastRun,
                attempt: attempt,
                fraction: fraction,
                note: note,
                isOfFiles: true
            )
        )
    }

    /// Saves that files were put back, and only then removes their copies.
    ///
    /// While the state lists the files, the next start puts them back again, over whatever is written to them meanwhile.
    func finishRestore(_ restored: MigrationState) throws(MigrationError) {
        var next = restored
        let version = next.marks.interruption?.version
        next.marks.interruption?.release()
        if let failure = note(next) {
            throw protection(failure, .noting, for: version)
        }
        // The event comes after the save: until then a start waits for this thread, and the handler may wait for that start.
        send(MigrationEvent(.restored, location.name, version: version))
        discardSnapshot(version)
    }

    /// Saves what is worth knowing but can't be insisted on; gives why that failed.
    func note(_ new: MigrationState) -> SaveFailure? {
        do throws(SaveFailure) {
            try save(new)
            return nil
        } catch {
            return error
        }
    }

    /// The error for a save on which protected files depend.
    func protection(
        _ failure: SaveFailure,
        _ stage: ProtectionFailure.Stage,
        for version: AppVersion?
    ) -> MigrationError {
        .protection(.failed(failure.cause, location.state, stage), location, version)
    }

    private func confirm(
        or stage: ProtectionFailure.Stage,
        for version: AppVersion?
    ) throws(MigrationError) {
        do throws(LockLoss) {
            try confirm()
        } catch {
            throw .protection(.failed(error, location.lock, stage), location, version)
        }
    }

    /// Removes a snapshot that no state refers to; `synchronizing` when that state may stand in memory only.
    ///
    /// Gives whether none is there any more.
    @discardableResult
    func discardSnapshot(_ version: AppVersion?, synchronizing: Bool = false) -> Bool {
        let failure: MigrationError
        do throws(LockLoss) {
            try confirm()
            do throws(ProtectionFailure) {
                try FileSnapshot(location, lock).remove(synchronizing: synchronizing)
                return true
            } catch {
                failure = .protection(error, location, nil)
            }
        } catch {
            let consequence: Message = "\(location.snapshot) was not removed."
            failure = .lockLost(error, version, location, consequence: consequence)
        }
        send(MigrationEvent(.leftoverNotRemoved, location.name, version: version, error: failure))
        return false
    }

    /// Saves that the snapshot of a recorded migration is gone.
    ///
    /// Nothing depends on this save: the next start tries it again.
    func forgetSnapshot() {
        guard var state else { return }
        let version = state.marks.interruption?.version
        state.marks.interruption = nil
        guard let failure = note(state) else { return }
        let consequence: Message = "No data is concerned; the next start that takes the lock tries again."
        let error = MigrationError.notSaved(failure, version, location, consequence: consequence)
        send(MigrationEvent(.leftoverNotRemoved, location.name, version: version, error: error))
    }
}
