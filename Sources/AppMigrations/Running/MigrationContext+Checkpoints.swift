extension MigrationContext {
    /// What an earlier attempt saved with ``saveCheckpoint(_:progress:)``; `nil` where none did.
    ///
    /// It stays what it was when this attempt began.
    public var checkpoint: String? { writer.saved?.text }

    /// The version of the app that saved ``checkpoint``: an older one may have counted differently.
    public var checkpointAppVersion: AppVersion? { writer.saved?.appVersion }

    /// What an earlier attempt saved, as the type in which it was saved; `nil` where none did.
    ///
    /// - Throws: ``MigrationError`` with the code `checkpointNotSaved` where no value of that type was saved: another version
    ///   of the app, ``checkpointAppVersion``, may have saved another one.
    public func checkpoint<Value: LosslessStringConvertible>(
        as type: Value.Type
    ) throws(MigrationError) -> Value? {
        try writer.saved?.value(as: type, version, location)
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
    ///   - progress: How much is done, from 0 to 1, as in ``reportProgress(_:note:)``, which it also does; kept with the
    ///     checkpoint. `nil` keeps the last one.
    /// - Throws: ``MigrationError`` with the code `cancelled`, or `checkpointNotSaved`: the text is too long, the save
    ///   failed, the closure has ended, or has `protecting:`, since a restore would undo what the checkpoint says was
    ///   done.
    public func saveCheckpoint(
        _ value: some LosslessStringConvertible,
        progress: Double? = nil
    ) throws(MigrationError) {
        try writer.save(value.description, progress: progress.map(Self.fraction), of: self)
        if let progress { reportProgress(progress) }
        if Task.isCancelled { throw .cancelledAtCheckpoint(version, location) }
    }
}
