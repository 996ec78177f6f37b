/// The migration that runs, as its closure sees it: its version and attempt, and the calls that report
/// progress, save checkpoints and sync work to disk.
public struct MigrationContext: Sendable {
    /// The version of this migration.
    public var version: AppVersion { writer.initial.version }

    /// The version of the data before this migration: the highest version that had run.
    public var previousVersion: AppVersion { writer.previousVersion }

    /// How often this closure has been started, including now.
    ///
    /// It is more than 1 if an earlier attempt threw or its process died.
    public var attempt: Int { writer.initial.attempt.attempts }

    /// True if an earlier attempt may have done a part of the work already.
    public var isRetry: Bool { attempt > 1 }

    /// True if the process of the latest attempt died in the closure.
    ///
    /// If the migration protects files, they were restored after that.
    package let followsCrash: Bool

    let lock: FileLock
    let reporter: Reporter
    let writer: CheckpointWriter

    /// Sends an event of the kind ``MigrationEvent/Kind/progressed``.
    ///
    /// When the closure has ended, it does nothing.
    ///
    /// - Parameters:
    ///   - fraction: How much is done, from 0 to 1. Values below 0 count as 0, values above 1 as 1, and NaN
    ///     as 0.
    ///   - note: The work that is being done, to show to the user.
    public func reportProgress(_ fraction: Double, note: String? = nil) {
        guard writer.isRunning else { return }
        var event = event(.progressed)
        event.fraction = Self.fraction(fraction)
        event.note = note
        reporter.send(event)
    }

    package static func fraction(_ number: Double) -> Double { number.isNaN ? 0 : min(max(number, 0), 1) }
}

extension MigrationContext {
    /// The text that an earlier attempt saved with ``saveCheckpoint(_:progress:)``; `nil` if none did.
    ///
    /// It doesn't change during this attempt.
    public var checkpoint: String? { writer.initial.attempt.checkpoint?.text }

    /// The version of the app that saved ``checkpoint``.
    ///
    /// An older version may have used other values for the same place.
    public var checkpointAppVersion: AppVersion? { writer.initial.attempt.checkpoint?.appVersion }

    /// The checkpoint that an earlier attempt saved, converted to `type`; `nil` if no attempt saved one.
    ///
    /// Pass the type that was saved.
    ///
    /// - Throws: ``MigrationError`` with the code `checkpointNotSaved` if the saved text is no value of that
    ///   type: another version of the app, ``checkpointAppVersion``, may have saved another type.
    public func checkpoint<Value: LosslessStringConvertible>(
        as type: Value.Type
    ) throws(MigrationError) -> Value? {
        try writer.initial.attempt.checkpoint?.value(as: type, of: version, in: location)
    }

    /// Saves how far the closure has come.
    ///
    /// The next attempt can continue from there, even after a power failure.
    ///
    /// Call it when the work up to that place is synced to disk, and let its error end the closure:
    ///
    /// ```swift
    /// try migrations.whenMigrating(toVersion: "1.4") { context in
    ///     let done = try context.checkpoint(as: Int.self) ?? 0
    ///     for batch in try batches(after: done) {
    ///         try convert(batch)
    ///         try context.synchronize(libraryFolder)
    ///         try context.saveCheckpoint(
    ///             batch.last,
    ///             progress: batch.progress
    ///         )
    ///     }
    /// }
    /// ```
    ///
    /// If the task is cancelled, this saves the checkpoint and then throws an error with the code
    /// `cancelled`. If the checkpoint differs from the last one of the earlier attempt, this attempt has made
    /// progress. The count of crashes for `attemptLimit` then begins again. The checkpoint stays until the
    /// migration is recorded or the state is reset, even if other migrations are begun or fail before that.
    /// Each call costs one save. It may be called from several threads and tasks of the closure.
    ///
    /// - Parameters:
    ///   - value: A place in the data, of at most 4,096 bytes as UTF-8.
    ///   - progress: How much of the whole work is done, earlier attempts included, from 0 to 1. It is
    ///     reported as by ``reportProgress(_:note:)``, and saved with the checkpoint. `nil` keeps the last
    ///     one.
    /// - Throws: ``MigrationError`` with the code `cancelled`, or `checkpointNotSaved` if the text is too
    ///   long, the save failed, the closure has ended, or the migration has `protecting:`. A restore would
    ///   undo the work that the checkpoint says is done.
    public func saveCheckpoint(
        _ value: some LosslessStringConvertible,
        progress: Double? = nil
    ) throws(MigrationError) {
        try writer.save(value.description, progress: progress.map(Self.fraction), of: self)
        if let progress { reportProgress(progress) }
        if Task.isCancelled { throw location.cancelledAtCheckpoint(of: version) }
    }

    /// Syncs files and folders to disk, so that a power failure after the record can't undo their changes.
    ///
    /// The library does this for the files of `protecting:`. A closure that changes other files calls it
    /// before it returns:
    ///
    /// ```swift
    /// try migrations.whenMigrating(toVersion: "1.1") { context in
    ///     try moveArchiveToFolders()
    ///     try context.synchronize(libraryFolder)
    /// }
    /// ```
    ///
    /// Name the folder, not each of its files. A folder is synced with everything in it, and a link is
    /// followed. The folders above are synced too, so that new and removed names are durable as well. If the
    /// closure removed something, name the folder that contained it.
    ///
    /// The commits of a database with `synchronous=FULL` need no call. The library doesn't open a database
    /// that has a `-wal`, `-shm` or `-journal` file next to it, so it can't sync that file alone. On Linux
    /// with ext4, xfs or btrfs, it syncs the whole file system instead. On other systems, SQLite is
    /// responsible. If your closure copies a database file, close the database first.
    ///
    /// - Parameter paths: Paths of files and folders, absolute or relative to the working directory.
    /// - Throws: ``MigrationError`` with the code `stateNotSaved`, which names the path. Let the closure
    ///   throw it, so that the migration runs again.
    public func synchronize(_ paths: [String]) throws(MigrationError) {
        for path in paths { try synchronizeItem(at: path) }
        if writer.isRunning { reachRehearsalPoint(.afterSynchronize) }
    }

    /// Syncs files and folders to disk; the same as ``synchronize(_:)-([String])``.
    public func synchronize(_ paths: String...) throws(MigrationError) { try synchronize(paths) }

    private func synchronizeItem(at path: String) throws(MigrationError) {
        if let reason = FilePaths.refusal(path) {
            throw .unsynchronized(at: path, reason: "\(path.quoted): \(reason)", in: location, of: version)
        }
        do throws(SystemCallError) {
            let stateFolder = try Platform.resolved(location.directory)
            // realpath(3) makes a path absolute, and fails if nothing exists there.
            let place = try Platform.resolved(path)
            try FileTree.synchronize([place], by: lock.flush, butDatabases: true)
            try FileTree.synchronizeFolders(from: FilePaths.parent(place), upTo: stateFolder)
            // The name of a link can be in another folder than the file that the link leads to.
            let namingFolder = path.utf8.contains(0x2F) ? FilePaths.parent(path) : "."
            try FileTree.synchronizeFolders(from: Platform.resolved(namingFolder), upTo: stateFolder)
        } catch {
            let failure = error.at(path)
            throw .unsynchronized(
                at: failure.path ?? path,
                reason: "\(failure)",
                in: location,
                of: version,
                because: failure
            )
        }
    }
}

extension MigrationContext {
    var location: StateLocation { reporter.location }

    /// An event of a closure that is about to run, runs, or has ended.
    func event(_ kind: MigrationEvent.Kind) -> MigrationEvent {
        var event = MigrationEvent(kind, managerName: location.name, version: version)
        event.previousVersion = previousVersion
        event.attempt = attempt
        return event
    }

    /// In a rehearsal (a test that simulates crashes), reports that this point is reached.
    package func reachRehearsalPoint(_ place: RehearsalMoment.Place) {
        reporter.rehearsal?.reached(RehearsalMoment(place: place, version: version))
    }
}
