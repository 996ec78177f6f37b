/// What a closure knows about its migration, and its methods to report progress, save checkpoints and sync
/// work to disk.
public struct MigrationContext: Sendable {
    private let running: Attempt

    init(attempt running: Attempt) { self.running = running }

    /// The version of this migration.
    public var version: AppVersion { running.version }

    /// The version of the data before this migration (the last-run version).
    public var previousVersion: AppVersion { running.previousVersion }

    /// How many times this closure has been called, including this time.
    ///
    /// It is more than 1 if an earlier attempt threw or its process crashed.
    public var attempt: Int { running.migration.attemptCount }

    /// True if an earlier attempt may have done a part of the work already.
    public var isRetry: Bool { attempt > 1 }

    /// Sends an event of the kind ``MigrationEvent/Kind/progressed``.
    ///
    /// After the closure has ended, a call does nothing.
    ///
    /// - Parameters:
    ///   - fraction: How much is done, from 0 to 1. Values below 0 count as 0, values above 1 as 1, and NaN
    ///     as 0.
    ///   - note: The work that is being done, to show to the user.
    public func reportProgress(_ fraction: Double, note: String? = nil) {
        guard running.isRunning else { return }
        var event = running.event(.progressed)
        event.fraction = Self.fraction(fraction)
        event.note = note
        running.send(event)
    }

    /// The path of the copy on which the closure works; empty if it works in place.
    package var copy: String { running.replacement?.copy ?? "" }

    package static func fraction(_ number: Double) -> Double { number.isNaN ? 0 : min(max(number, 0), 1) }
}

extension MigrationContext {
    /// The text that an earlier attempt saved with ``saveCheckpoint(_:progress:)``; `nil` if none did.
    ///
    /// It doesn't change during this attempt.
    public var checkpoint: String? { running.migration.checkpoint?.text }

    /// The version of the app that saved ``checkpoint``.
    ///
    /// An older version of the app may have saved another value for the same position.
    public var checkpointAppVersion: AppVersion? { running.migration.checkpoint?.appVersion }

    /// The checkpoint that an earlier attempt saved, converted to `type`; `nil` if no attempt saved one.
    ///
    /// Pass the type of the value that was saved.
    ///
    /// - Throws: ``MigrationError`` with the code `checkpointNotSaved` if the saved text can't be read as
    ///   that type. Another version of the app (``checkpointAppVersion``) may have saved another type.
    public func checkpoint<Value: LosslessStringConvertible>(
        as type: Value.Type
    ) throws(MigrationError) -> Value? {
        try running.migration.checkpoint?.value(as: type, of: version, in: location)
    }

    /// Saves how far the closure has come.
    ///
    /// The next attempt can continue from there, even after a power failure. Continue there only if nobody
    /// can add work before that position. If an older release can, do what is left in the old place instead,
    /// and save the checkpoint without reading it: <doc:LongMigrations#When-to-continue-at-a-position>.
    ///
    /// Call it only after the work so far has been synced to disk. Don't catch its error: let the error end
    /// the closure.
    ///
    /// ```swift
    /// try migrations.whenMigrating(toVersion: "1.4") { context in
    ///     // Row numbers only grow, and no older release writes.
    ///     let done = try context.checkpoint(as: Int.self) ?? 0
    ///     for batch in try batches(after: done) {
    ///         let written = try convert(batch)
    ///         try context.synchronize(written)
    ///         try context.saveCheckpoint(
    ///             batch.last,
    ///             progress: batch.progress
    ///         )
    ///     }
    /// }
    /// ```
    ///
    /// If the task is cancelled, this method saves the checkpoint and then throws an error with the code
    /// `cancelled`. If the checkpoint differs from the last checkpoint of the earlier attempt, this attempt
    /// has made progress. So the count of crashes for `attemptLimit` begins again at 0. The checkpoint stays
    /// until the migration is recorded or the state is reset, even if other migrations begin or fail before
    /// that. Each call costs one save. Several threads and tasks of the closure may call it.
    ///
    /// - Parameters:
    ///   - value: How far the closure has come, for example the key of the last row. Its text can have at
    ///     most 4,096 bytes in UTF-8.
    ///   - progress: How much of the whole work is done, earlier attempts included, from 0 to 1. It is saved
    ///     with the checkpoint, and reported as if you called ``reportProgress(_:note:)``. If it is `nil`,
    ///     the progress that was saved last stays.
    /// - Throws: ``MigrationError`` with the code `cancelled`, or `checkpointNotSaved` if the text is too
    ///   long, the save failed, the closure has ended, or the migration uses `replacing:`, because its next
    ///   attempt begins with a new copy.
    public func saveCheckpoint(
        _ value: some LosslessStringConvertible,
        progress: Double? = nil
    ) throws(MigrationError) {
        try running.saveCheckpoint(value.description, progress: progress.map(Self.fraction))
        if let progress { reportProgress(progress) }
        if Task.isCancelled { throw location.cancelledAtCheckpoint(of: version) }
    }

    /// Syncs files and folders to disk, so that a later power failure can't undo their changes.
    ///
    /// Otherwise a power failure could undo the changes of a migration that is recorded as done. A closure
    /// that changes files calls this method before it returns:
    ///
    /// ```swift
    /// try migrations.whenMigrating(toVersion: "1.1") { context in
    ///     try moveArchiveToFolders()
    ///     try context.synchronize([libraryFolder])
    /// }
    /// ```
    ///
    /// If the closure changed most files of a folder, name the folder: it is synced with everything in it. If
    /// the closure changed only a few files of a large folder, for example one batch of files, name these
    /// files in one call. Links are followed. The folders above each path are synced too, so that the
    /// creation and removal of files is durable as well. Each call syncs a folder only once. If the closure
    /// removed something, name another file of the same folder, or the folder itself if it has few files.
    ///
    /// SQLite itself syncs the commits of a database with `synchronous=FULL`, so you needn't name that
    /// database. The library never opens a database file that has a `-wal`, `-shm` or `-journal` file next to
    /// it, so it can't sync that database file alone. On Linux with ext4, xfs or btrfs, it syncs the whole
    /// file system instead. On other systems, the database isn't synced. If your closure copies a database
    /// file, close the database first.
    ///
    /// - Parameter paths: Paths of files and folders, absolute or relative to the working directory.
    /// - Throws: ``MigrationError`` with the code `stateNotSaved`, which names the path. Let the closure
    ///   throw it, so that the migration runs again.
    public func synchronize(_ paths: [String]) throws(MigrationError) {
        var items: [String] = []
        var folders: [String] = []
        for path in paths {
            if let reason = FilePaths.refusal(path) {
                throw unsynchronizedError(at: path, reason: "\(path.quoted): \(reason)")
            }
            do throws(SystemCallError) {
                // realpath(3) makes a path absolute, and fails if nothing exists there.
                let item = try Platform.resolved(path)
                items.append(item)
                folders.append(FilePaths.parent(item))
                // `path` can be a link in another folder than the file that it leads to. Sync both folders.
                let namingFolder = path.utf8.contains(0x2F) ? FilePaths.parent(path) : "."
                folders.append(try Platform.resolved(namingFolder))
            } catch {
                throw unsynchronizedError(error, at: path)
            }
        }
        do throws(SystemCallError) {
            try FileTree.synchronize(items, by: running.lock.flush, excludingDatabases: true)
            let stateFolder = try Platform.resolved(location.directory)
            try FileTree.synchronizeFolders(from: folders, upTo: stateFolder)
        } catch {
            throw unsynchronizedError(error, at: paths.first ?? location.directory)
        }
        if running.isRunning { observe(.afterSynchronize) }
    }

    /// Makes the error for a sync that failed.
    ///
    /// The error names the path of the system call that failed. If that call had no path, it names `path`.
    private func unsynchronizedError(_ error: SystemCallError, at path: String) -> MigrationError {
        let failure = error.at(path)
        return unsynchronizedError(at: failure.path ?? path, reason: "\(failure)", because: failure)
    }

    private func unsynchronizedError(
        at path: String,
        reason: Message,
        because cause: SystemCallError? = nil
    ) -> MigrationError {
        let text: Message = """
            The files that migration \(version) of \(location) wrote could not be synced to disk: \(reason). The migration was not \
            recorded, and runs again with the next manager.
            """
        return location.error(.stateNotSaved, version: version, at: path, because: cause, text)
    }
}

extension MigrationContext {
    private var location: StateLocation { running.location }

    /// Sets the note of the event ``MigrationEvent/Kind/finished``, for a closure that has run nothing.
    package func setFinalNote(_ note: String) { running.setFinalNote(note) }

    /// In a rehearsal (a test that simulates crashes), reports that this point has been reached.
    package func observe(_ place: ObservedMoment.Place) { running.observe(place) }
}

// The errors of checkpoints, in a file or in the store of a fleet.
extension StateLocation {
    private func checkpointRefused(
        of version: AppVersion,
        reason: Message,
        advice: Message
    ) -> MigrationError {
        let text: Message = """
            A checkpoint of migration \(version) of \(self) was not saved: \(reason) The previous checkpoint is unchanged. \(advice)
            """
        return error(.checkpointNotSaved, version: version, text)
    }

    package func checkpointTooLong(_ size: Int, of version: AppVersion) -> MigrationError {
        checkpointRefused(
            of: version,
            reason: "its text has \(size) bytes in UTF-8, and at most \(Checkpoint.sizeLimit) are allowed.",
            advice:
                "Save how far the migration has come, such as the key of the last row, and not the data itself."
        )
    }

    func checkpointOfReplacement(of version: AppVersion) -> MigrationError {
        checkpointRefused(
            of: version,
            reason: "the migration uses replacing:, and its next attempt begins with a new copy.",
            advice: "Use either replacing: or checkpoints, not both."
        )
    }

    package func checkpointAfterEnd(of version: AppVersion) -> MigrationError {
        checkpointRefused(
            of: version,
            reason: "the closure has ended.",
            advice: "Let the closure wait for the tasks and threads that it starts."
        )
    }

    package func cancelledAtCheckpoint(of version: AppVersion) -> MigrationError {
        let text: Message = """
            The task of migration \(version) of \(self) was cancelled. Its checkpoint is saved, and the next attempt \
            continues from it.
            """
        return error(.cancelled, version: version, text)
    }
}

extension Checkpoint {
    /// The saved text, converted to `type`.
    package func value<Value: LosslessStringConvertible>(
        as type: Value.Type,
        of version: AppVersion,
        in location: StateLocation
    ) throws(MigrationError) -> Value {
        if let value = Value(text) { return value }
        let typeName = "\(type)"
        let message: Message = """
            The checkpoint of migration \(version) of \(location) can't be read as \(typeName): app version \(appVersion) saved \
            \(text.quoted). The checkpoint was kept. Read it as the type that app version \(appVersion) saved.
            """
        throw location.error(.checkpointNotSaved, version: version, message)
    }
}
