// Restoring protected files, and removing their copies.
extension LockedState {
    /// If a process crashed in a migration that protects files, restores these files from their copies.
    ///
    /// Otherwise removes copies that the state doesn't refer to.
    ///
    /// Call this first after taking the lock. Otherwise the app could write new data to the files, and a
    /// later restore would overwrite that data.
    ///
    /// If `keepsReplaced` is true, all files that the restore replaces are kept. Otherwise the option with
    /// which the snapshot was made decides.
    func recover(keepingReplaced keepsReplaced: Bool = false) throws(MigrationError) {
        guard let state else { return }
        let version = state.versions.interruption?.version
        if state.versions.awaitsRestore, let version {
            // `afterCrash`, because an older release may have written to the files since the crash.
            try restore(version, afterCrash: true, keepingReplaced: keepsReplaced)
            try finishRestore(state.recordingRestore())
            return
        }
        if lock.hasFoundSnapshot { discardSnapshot(of: version) }
    }

    /// Moves aside the copies that a first run found: they belong to an earlier state, which was lost.
    ///
    /// The protected files themselves may be damaged, so the copies have to be kept. If they stayed in their
    /// folder, a later start would remove them, because no state refers to them. If they can't be moved or
    /// marked as kept, the save of the new state, which comes next, fails for the same reason and reports the
    /// problem with the folder.
    func keepCopiesOfLostState(at time: Int64 = Platform.now) {
        cleanUpSnapshot(of: nil) { files in
            try files.keep(asOf: time).map { SavedFiles.Kept(path: $0, reason: .stateLost) }
        }
    }

    /// Removes copies that the state doesn't refer to.
    ///
    /// Copies that a person may still need are moved aside instead.
    func discardSnapshot(of version: AppVersion?) {
        cleanUpSnapshot(of: version) { files in
            try confirmLock()
            return try files.discard()
        }
    }

    /// Removes the copies of an earlier attempt, which no state refers to, before new copies are made.
    ///
    /// If they can't be removed, they are moved aside or marked as kept, because they would prevent every
    /// later migration.
    func makeRoomForSnapshot(of version: AppVersion) throws {
        guard let leftover = try SavedFiles(in: location, of: version) else { return }
        let kept: SavedFiles.Kept?
        do {
            kept = try leftover.discard()
        } catch {
            let path = try leftover.keep(asOf: Platform.now)
            kept = path.map { SavedFiles.Kept(path: $0, reason: .notRemovable) }
        }
        if let kept { sendLeftover(location.keptFilesError(kept), of: version) }
    }

    /// Removes or moves aside copies that no state refers to, and sends an event if some remain.
    private func cleanUpSnapshot(
        of version: AppVersion?,
        _ cleanUp: (SavedFiles) throws -> SavedFiles.Kept?
    ) {
        do {
            guard let files = try SavedFiles(in: location, of: version), let kept = try cleanUp(files) else {
                return
            }
            sendLeftover(location.keptFilesError(kept), of: version)
        } catch {
            sendLeftover(location.protectionError(.cleaningUp, of: version, because: error), of: version)
        }
    }

    private func sendLeftover(_ error: MigrationError, of version: AppVersion?) {
        var event = MigrationEvent(.leftoverNotRemoved, managerName: location.name, version: version)
        event.error = error
        send(event)
    }

    /// Restores the files that the migration of `version` protects; throws if the lock was lost.
    ///
    /// After a crash, the files that the restore replaces or removes may have to be kept. In that case, they
    /// stay in the snapshot, and ``discardSnapshot(of:)`` moves the snapshot aside and reports it.
    func restore(
        _ version: AppVersion,
        afterCrash isAfterCrash: Bool = false,
        keepingReplaced keepsReplaced: Bool = false
    ) throws(MigrationError) {
        do {
            try confirmLock()
            guard let files = try SavedFiles(in: location, of: version) else {
                throw SavedFiles.missingError(in: location, of: version)
            }
            renamedInPlace += try files.restore(
                afterCrash: isAfterCrash,
                keepingReplaced: keepsReplaced
            ) { [self] fraction, note in
                var event = MigrationEvent(.progressed, managerName: location.name, version: version)
                event.fraction = fraction
                event.note = note
                event.isCopying = true
                send(event)
            }
        } catch {
            throw location.protectionError(.restoring, of: version, because: error)
        }
    }

    /// Saves that the protected files have been restored, and then removes their copies.
    ///
    /// In this order, because each start restores the files from the copies until the state says that they
    /// have been restored.
    func finishRestore(_ restored: MigrationState) throws(MigrationError) {
        let version = restored.versions.interruption?.version
        if let failure = saveBestEffort(restored.endingRestore()) {
            throw location.protectionError(.savingUnchanged, of: version, because: failure)
        }
        // Send the events only after the save. Until the state is saved, another start waits for this thread.
        // An event handler that waits for that start would deadlock.
        send(MigrationEvent(.restored, managerName: location.name, version: version))
        for path in renamedInPlace {
            let kept = SavedFiles.Kept(path: path, reason: .notMovable)
            sendLeftover(location.keptFilesError(kept), of: version)
        }
        renamedInPlace = []
        discardSnapshot(of: version)
    }
}
