extension LockedState {
    /// Finishes the work of a process that died while it was replacing a file or a folder.
    ///
    /// Call this directly after taking the lock. If the copy is already in the original's place, this records
    /// the migration, even if this version of the app doesn't declare it. Otherwise it puts the original back,
    /// if the original isn't in its place. If the state names no replacement, this returns at once.
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
        // Begin with the recorded replacement: an earlier attempt that failed may name the same path.
        if let path = found.versions.workingFolder {
            let folder = WorkingFolder(at: FilePaths.absolute(path, from: directory), of: location)
            // Sync the record first: if a power failure undid it after the working folder was removed, nothing
            // would show that the original was replaced.
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
                    A process died while \(location) replaced \(place.quoted) for migration \
                    \(version), and \(folder.path.quoted) can't be settled: \(error).
                    """,
                    advice: """
                        The original is at one of these two paths. Fix the cause, and start the app again.
                        """
                )
            }
            // Only the latest attempt can have replaced anything: the others were settled before it began.
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
}
