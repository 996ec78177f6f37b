/// The migration that a closure runs, and the calls that report progress, save checkpoints and sync work to disk.
public struct MigrationContext: Sendable {
    /// The version of this migration.
    public var version: AppVersion { writer.began.version }

    /// The last-run version, which the data is at now.
    public var previousVersion: AppVersion { writer.previousVersion }

    /// How many times this closure was begun, this time included: 1, unless a process died in it or it threw.
    public var attempt: Int { writer.began.attempt.attempts }

    /// True if an earlier attempt may have done a part already.
    public var isRetry: Bool { attempt > 1 }

    let lock: FileLock
    let reporter: Reporter
    let writer: CheckpointWriter

    /// Sends an event of the kind ``MigrationEvent/Kind/progressed``; nothing once the closure has ended.
    ///
    /// - Parameters:
    ///   - fraction: How much is done, from 0 to 1. A value outside is taken for the nearer end, one that is not a
    ///     number for 0.
    ///   - note: The work that is being done, for a display.
    public func reportProgress(_ fraction: Double, note: String? = nil) {
        guard writer.isUnderWay else { return }
        var event = event(.progressed)
        (event.fraction, event.note) = (Self.fraction(fraction), note)
        reporter.send(event)
    }

    package static func fraction(_ number: Double) -> Double { number.isNaN ? 0 : min(max(number, 0), 1) }
}

extension MigrationContext {
    /// The text that an earlier attempt saved with ``saveCheckpoint(_:progress:)``; `nil` where none did.
    ///
    /// It stays what it was when this attempt began.
    public var checkpoint: String? { writer.began.attempt.checkpoint?.text }

    /// The version of the app that saved ``checkpoint``: an older one may have counted differently.
    public var checkpointAppVersion: AppVersion? { writer.began.attempt.checkpoint?.appVersion }

    /// The value that an earlier attempt saved, in the type in which it was saved; `nil` where none did.
    ///
    /// - Throws: ``MigrationError`` with the code `checkpointNotSaved` where no value of that type was saved: another version
    ///   of the app, ``checkpointAppVersion``, may have saved another one.
    public func checkpoint<Value: LosslessStringConvertible>(
        as type: Value.Type
    ) throws(MigrationError) -> Value? {
        try writer.began.attempt.checkpoint?.value(as: type, version, location)
    }

    /// Saves how far the closure came, durably: the next attempt goes on there, also after a power cut.
    ///
    /// Save after the work up to that place is on the disk itself, and let the error end the closure:
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
    /// In a cancelled task the checkpoint is saved, and then the code `cancelled` thrown. A process that dies after a checkpoint
    /// which says something else than the last one left off with has come further, so `attemptLimit` counts its deaths from
    /// there. The checkpoint stays until the migration is recorded or the state reset, whatever else is begun or fails meanwhile.
    /// Each call costs one save. It may be called from several threads and tasks of the closure.
    ///
    /// - Parameters:
    ///   - value: A place in the data, of at most 4,096 bytes as UTF-8.
    ///   - progress: How much of everything is done, earlier attempts included, from 0 to 1. It is told as in
    ///     ``reportProgress(_:note:)``, and kept with the checkpoint. `nil` keeps the last one.
    /// - Throws: ``MigrationError`` with the code `cancelled`, or `checkpointNotSaved`: the text is too long, the save
    ///   failed, the closure has ended, or has `protecting:`, since a restore would undo what the checkpoint says was
    ///   done.
    public func saveCheckpoint(
        _ value: some LosslessStringConvertible,
        progress: Double? = nil
    ) throws(MigrationError) {
        try writer.save(value.description, progress: progress.map(Self.fraction), of: self)
        if let progress { reportProgress(progress) }
        if Task.isCancelled { throw location.cancelledAtCheckpoint(version) }
    }

    /// Syncs files and folders to disk, so that a power cut after the record can't take them back.
    ///
    /// The library does this for what `protecting:` names. A closure that changes other files calls it at its end, before it
    /// returns:
    ///
    /// ```swift
    /// try migrations.whenMigrating(toVersion: "1.1") { context in
    ///     try moveArchiveToFolders()
    ///     try context.synchronize(libraryFolder)
    /// }
    /// ```
    ///
    /// Name the folder, not each of its files. A folder is synced with everything in it, and a link as what it leads to. The
    /// folders above are synced too, so that new names and removed ones are durable as well. Where the closure removed something,
    /// name the folder that held it. What a database committed with `synchronous=FULL` needs no call. One that has a `-wal`, `-shm`
    /// or `-journal` beside it is not opened: the state's file system is synced as a whole then, if it is Linux' ext4, xfs or btrfs;
    /// elsewhere the database is left to SQLite.
    /// So close a database before you copy its file.
    ///
    /// - Parameter paths: Paths of files and folders, absolute or relative to the working directory.
    /// - Throws: ``MigrationError`` with the code `stateNotSaved`, naming the path. Let the closure throw it: the migration
    ///   runs again then.
    public func synchronize(_ paths: [String]) throws(MigrationError) {
        for path in paths { try synchronize(one: path) }
        if writer.isUnderWay { reach(.afterSynchronize) }
    }

    /// Syncs files and folders to disk; the same as ``synchronize(_:)-([String])``.
    public func synchronize(_ paths: String...) throws(MigrationError) { try synchronize(paths) }

    private func synchronize(one path: String) throws(MigrationError) {
        if let reason = FilePaths.refusal(path) {
            throw .unsynchronized(at: path, reason: "\(path.quoted): \(reason)", in: location, of: version)
        }
        do throws(SystemCallError) {
            let stateFolder = try Platform.resolved(location.directory)
            // realpath(3) makes a path absolute, and fails where nothing stands.
            let place = try Platform.resolved(path)
            try FileTree.synchronize([place], by: lock.flush, butDatabases: true)
            try FileTree.synchronizeFolders(from: FilePaths.parent(place), upTo: stateFolder)
            // A link's own name stands in another folder than the file that the link leads to.
            let folder = path.utf8.contains(0x2F) ? FilePaths.parent(path) : "."
            try FileTree.synchronizeFolders(from: try Platform.resolved(folder), upTo: stateFolder)
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
