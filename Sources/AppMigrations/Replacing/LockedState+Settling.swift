extension LockedState {
    /// Finishes what a process has left that died while it replaced a file or a folder.
    ///
    /// Call this first after the lock was taken. If the original was replaced, its migration is recorded,
    /// whichever version of the app does it. Otherwise the original is put back into its place, if it isn't
    /// there. A state that names no replacement costs nothing.
    ///
    /// - Throws: ``MigrationError`` with the code `replacementFailed` if the original can't be put back, or
    ///   `stateNotSaved` if the record can't be saved.
    mutating func settleReplacements(
        sendingTo onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) throws(MigrationError) {
        guard let found = state, found.versions.namesReplacement else { return }
        let location = location
        let directory: String
        do throws(SystemCallError) {
            directory = try Platform.resolved(location.directory)
        } catch {
            throw .unreadable(error, at: location)
        }
        // First what is recorded: an attempt that failed before it may name the same path.
        if let path = found.versions.workingFolder {
            let folder = WorkingFolder(at: FilePaths.absolute(path, from: directory), of: location)
            // If a power failure undid the record, only the working folder would tell that it was replaced.
            try synchronizeState()
            try removeRecorded(folder, of: nil, sendingTo: onEvent)
        }
        for attempted in found.versions.attemptsThatReplace {
            let version = attempted.version
            let place = FilePaths.absolute(attempted.replacing ?? "", from: directory)
            let folder = WorkingFolder(beside: place, of: location)
            let remains: WorkingFolder.Remains
            do throws(SystemCallError) {
                remains = try folder.settle { path in
                    location.send(.filesFound, of: version, note: path, to: onEvent)
                }
            } catch {
                throw location.error(
                    .replacementFailed,
                    version: version,
                    at: place,
                    because: error,
                    """
                    A process has died while \(location) replaced \(place.quoted) for migration \
                    \(version), and \(folder.path.quoted) can't be settled: \(error).
                    """,
                    advice: """
                        The original is at one of these two paths. Fix the cause, and start the app again.
                        """
                )
            }
            // Only the latest attempt can have replaced anything: before it began, the others were settled.
            let isLatest = version == found.versions.latestAttempt?.version
            switch remains {
            case .nothing: continue
            case .replaced where isLatest:
                try recordReplacement(of: attempted, in: folder, from: directory)
                try removeRecorded(folder, of: version, sendingTo: onEvent)
            case .replaced, .unfinished:
                location.removeOrReport(folder, of: version, to: onEvent)
            }
        }
    }

    /// Removes a working folder whose migration is recorded, and takes its path out of the state.
    private mutating func removeRecorded(
        _ folder: WorkingFolder?,
        of version: AppVersion?,
        sendingTo onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) throws(MigrationError) {
        if let folder { location.removeOrReport(folder, of: version, to: onEvent) }
        // If this save fails, the next start finds nothing to remove, and saves again.
        _ = save(try existing().changed { $0.versions.workingFolder = nil })
    }

    /// Records a migration whose process died between the replacement and the record.
    private mutating func recordReplacement(
        of attempted: AttemptedMigration,
        in folder: WorkingFolder,
        from directory: String
    ) throws(MigrationError) {
        let state = try existing()
        let row = AppliedMigration(attempted, after: state.versions.lastRun, at: Platform.now, in: .zero)
        let recorded = state.changed {
            $0.versions.raiseMinimumAppVersion(to: attempted.minimumAppVersion ?? .zero)
            $0.record(row)
            $0.versions.workingFolder = FilePaths.relative(folder.path, to: directory)
        }
        try save(
            recorded,
            version: attempted.version,
            orEndIn: "Migration \(attempted.version) ran, and is not recorded yet. The next start records it."
        )
    }
}

extension StateLocation {
    fileprivate func removeOrReport(
        _ folder: WorkingFolder,
        of version: AppVersion?,
        to onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) {
        guard let error = remove(folder, of: version) else { return }
        send(.leftoverNotRemoved, of: version, error: error, to: onEvent)
    }

    fileprivate func send(
        _ kind: MigrationEvent.Kind,
        of version: AppVersion?,
        note: String? = nil,
        error: MigrationError? = nil,
        to onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) {
        var event = MigrationEvent(kind, managerName: name, version: version)
        event.note = note
        event.error = error
        send(event, to: onEvent)
    }
}
