extension LockedState {
    /// Finishes the work of a process that died while it was replacing a file or a folder.
    ///
    /// Call this directly after taking the lock.
    ///
    /// If the state names the working folder of a recorded migration, this removes it. If the copy of the
    /// state's latest attempt is already in the original's place, this records the migration, even if this
    /// version of the app doesn't declare it. Otherwise it puts the original back, and renames what somebody
    /// else has put in its place. If the state names no replacement, this returns at once.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, with `replacementFailed` if the original
    ///   can't be put back, or with `stateNotSaved` if the record can't be saved.
    mutating func settleReplacements(
        sendingTo onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) throws(MigrationError) {
        guard let found = state, found.versions.namesReplacement else { return }
        let location = location
        let directory: String
        do throws(SystemCallError) {
            directory = try Platform.resolved(location.directory)
        } catch {
            // The left-over of a recorded migration is no reason to refuse a start.
            if found.versions.attemptToSettle == nil { return }
            throw .unreadable(error, at: location)
        }
        // Begin with the recorded replacement: the latest attempt may name the same path.
        if let path = found.versions.workingFolder {
            if let folder = WorkingFolder(at: FilePaths.absolute(path, from: directory), of: location) {
                try settleRecorded(folder, sendingTo: onEvent)
            } else {
                try forgetWorkingFolder()
            }
        }
        guard let attempted = found.versions.attemptToSettle else { return }
        let folder = WorkingFolder(of: attempted, from: directory, in: location)
        let remains: WorkingFolder.Remains
        do throws(SystemCallError) {
            remains = try folder.settle(expecting: attempted.version) { path in
                location.send(.filesFound, of: attempted.version, note: path, to: onEvent)
            }
        } catch {
            throw location.notSettled(folder, of: attempted.version, because: error)
        }
        switch remains {
        case .replaced(attempted.version):
            try record(attempted, replacedIn: folder, from: directory, sendingTo: onEvent)
        // The state doesn't say what that migration is. A declaration that replaces this path decides.
        case .nothing, .replaced: return
        case .unfinished, .occupied:
            location.report(location.clear(folder, with: remains, of: attempted.version), to: onEvent)
        }
    }

    /// Removes the working folder that the record of a migration names.
    ///
    /// If somebody has restored an older state, a later migration may have made the folder that is there now.
    /// So this looks at the names in the folder before it removes anything.
    ///
    /// If the folder can't be read, or the state can't be synced, the path of the folder stays in the state,
    /// and the next start tries again.
    private mutating func settleRecorded(
        _ folder: WorkingFolder,
        sendingTo onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) throws(MigrationError) {
        let location = location
        let versions = try existing().versions
        // If a power failure undid the record after the folder was removed, nothing would show that the
        // original was replaced.
        do throws(MigrationError) { try synchronizeState() } catch _ { return }
        let remains: WorkingFolder.Remains
        let isMissing: Bool
        do throws(SystemCallError) {
            remains = try folder.settle(expecting: nil) { _ in }
            isMissing = try !Platform.exists(at: folder.place)
        } catch {
            // The migration is recorded, so this is no reason to refuse a start.
            let leftover = location.error(
                .replacementFailed,
                at: folder.path,
                because: error,
                """
                The folder \(folder.path.quoted), which an earlier migration of \(location) has left, could not be settled: \
                \(error).
                """,
                unchanged: .saidByProblem,
                advice: "It may contain the only original. Take from it what you need, and remove it."
            )
            return location.report(leftover, to: onEvent)
        }
        // A declaration that replaces this path decides what a pending migration has left.
        if case .replaced(let version) = remains, versions.mayBePending(version) {
            return try forgetWorkingFolder()
        }
        let leftover = location.clear(folder, with: remains, isOriginalNeeded: isMissing, of: nil)
        location.report(leftover, to: onEvent)
        try forgetWorkingFolder()
    }

    /// Settles what an earlier process has left at the path of a declaration that is about to run, whether or
    /// not the state names it: the state may be another one, or the path may have been another one.
    ///
    /// `attempted` is the attempt that is about to begin.
    ///
    /// Returns true if that process had already replaced the original in an attempt that the state knows.
    /// That migration is recorded now, so the decision about `attempted` has to be made again. If this
    /// returns false, nothing is left at the path of the new working folder.
    mutating func settle(
        _ folder: WorkingFolder,
        before attempted: AttemptedMigration,
        minimumAppVersion: AppVersion,
        sendingTo onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) throws(MigrationError) -> Bool {
        let location = location
        let version = attempted.version
        let remains: WorkingFolder.Remains
        let directory: String
        let isMissing: Bool
        do throws(SystemCallError) {
            directory = try Platform.resolved(location.directory)
            remains = try folder.settle(expecting: version) { path in
                location.send(.filesFound, of: version, note: path, to: onEvent)
            }
            isMissing = try !Platform.exists(at: folder.place)
        } catch {
            throw location.notSettled(folder, of: version, because: error)
        }
        if remains == .nothing { return false }
        let versions = try existing().versions
        var isOriginalNeeded = isMissing
        if case .replaced(let found) = remains {
            // Without an attempt that may have replaced it, the data in the place may be an older backup.
            if var earlier = versions.attemptThatMayHaveReplaced(for: found) {
                if found == version { earlier.minimumAppVersion = minimumAppVersion }
                try record(earlier, replacedIn: folder, from: directory, sendingTo: onEvent)
                return true
            }
            // A power failure must not undo the record of what is removed now.
            try synchronizeState()
            // The original that was replaced may be the data that the state describes.
            isOriginalNeeded = isMissing || found == version || versions.mayBePending(found)
        }
        let leftover = location.clear(
            folder,
            with: remains,
            isOriginalNeeded: isOriginalNeeded,
            of: version
        )
        guard let leftover else { return false }
        do throws(SystemCallError) {
            // Something that can't even be renamed is where the new working folder has to be.
            if try !Platform.exists(at: folder.path) {
                location.report(leftover, to: onEvent)
                return false
            }
        } catch {
            throw location.notSettled(folder, of: version, because: error)
        }
        throw leftover.ending(in: .migration(version))
    }

    /// Records a migration whose process died between the replacement and the record, and removes its working
    /// folder.
    private mutating func record(
        _ attempted: AttemptedMigration,
        replacedIn folder: WorkingFolder,
        from directory: String,
        sendingTo onEvent: (@Sendable (MigrationEvent) -> Void)?
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
        location.report(location.remove(folder, of: attempted.version), to: onEvent)
        try forgetWorkingFolder()
    }

    /// Saves the state without the path of the working folder, which no start has to look for any more.
    private mutating func forgetWorkingFolder() throws(MigrationError) {
        // If this save fails, the next start finds nothing to remove, and saves again.
        _ = save(try existing().changed { $0.versions.workingFolder = nil })
    }
}

extension StateLocation {
    /// Makes the error for a working folder that can't be settled now.
    fileprivate func notSettled(
        _ folder: WorkingFolder,
        of version: AppVersion,
        because cause: SystemCallError
    ) -> MigrationError {
        error(
            .replacementFailed,
            version: version,
            at: folder.place,
            because: cause,
            """
            A process died while \(self) replaced \(folder.place.quoted), and \(folder.path.quoted) can't be settled: \(cause).
            """,
            advice: """
                The original is at one of these two paths, so remove neither. Fix the cause, and start the app again.
                """
        )
    }

    /// Sends the event about a folder that was left, if there is an error about one.
    fileprivate func report(
        _ leftover: MigrationError?,
        to onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) {
        guard let leftover else { return }
        send(.leftoverNotRemoved, of: leftover.version, error: leftover, to: onEvent)
    }

    /// Removes a working folder after ``WorkingFolder/settle(expecting:didFind:)``, or renames it if it may
    /// have the only copy of the user's data.
    ///
    /// `isOriginalNeeded` says whether the original counts as such data after it was replaced.
    ///
    /// - Returns: The error that says what is left and where; `nil` if the folder is gone.
    fileprivate func clear(
        _ folder: WorkingFolder,
        with remains: WorkingFolder.Remains,
        isOriginalNeeded: Bool = false,
        of version: AppVersion?
    ) -> MigrationError? {
        switch remains {
        case .nothing, .unfinished: return remove(folder, of: version)
        case .occupied: return moveAside(folder, of: version)
        case .replaced:
            if !isOriginalNeeded { return remove(folder, of: version) }
            // A file is replaced in one step, and a path where nothing was has no original.
            do throws(SystemCallError) {
                let hasOriginal = try Platform.exists(at: folder.item(in: folder.old))
                return hasOriginal ? moveAside(folder, of: version) : remove(folder, of: version)
            } catch _ {
                return moveAside(folder, of: version)
            }
        }
    }

    /// Moves a working folder aside that may have the only original of a path.
    ///
    /// - Returns: The error that says where the original is.
    fileprivate func moveAside(_ folder: WorkingFolder, of version: AppVersion?) -> MigrationError {
        var left = folder.path
        var cause: SystemCallError?
        do throws(SystemCallError) {
            left = try folder.moveAside()
            try Platform.synchronize(folder.folderAbove)
        } catch {
            cause = error
        }
        return error(
            .replacementFailed,
            version: version,
            at: left,
            because: cause,
            """
            A process of \(self) died while it replaced \(folder.place.quoted), and the state doesn't know that attempt. What it \
            has left, perhaps with the only original, is in \(left.quoted).
            """,
            unchanged: .saidByProblem,
            advice: "Take from it what you need, and remove it."
        )
    }
}
