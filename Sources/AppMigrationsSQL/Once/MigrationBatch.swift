internal import AppMigrations

/// The cursor at which a batch begins, which is where the batch before it ended.
///
/// `MigrationManager.whenMigrating(toVersion:in:batches:)` passes it to its closure.
public struct MigrationBatch: Sendable {
    /// The cursor that the last batch in this database returned; `nil` for the first batch.
    ///
    /// It was written in the transaction of that batch, so it always matches the data: after a crash, in a
    /// restored backup, and if another process ran some of the batches.
    public let cursor: String?

    let version: AppVersion

    /// The cursor as a value; `nil` for the first batch.
    ///
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/invalidCursor`` if the text can't be read as that
    ///   type.
    public func cursor<Value: LosslessStringConvertible>(as type: Value.Type) throws(SQLError) -> Value? {
        guard let cursor else { return nil }
        if let value = Value(cursor) { return value }
        throw SQLError(
            .invalidCursor,
            "The cursor \"\(cursor)\" of version \(version) can't be read as \(type)"
        )
    }

    /// The result of a batch: the cursor at which the next batch begins, or that nothing is left to do.
    public struct Outcome: Sendable {
        let cursor: String?
        let progress: Double?

        /// This batch is done, and the next one begins at a cursor.
        ///
        /// - Parameters:
        ///   - cursor: A value that says where the next batch begins, for example the last row id. It is
        ///     stored as its description, from which it can be read again. It must differ from the cursor at
        ///     which this batch began, and have at most 4,096 bytes.
        ///   - progress: How much of the migration is done, from 0 to 1. It is sent as an event after the
        ///     commit.
        /// - Returns: The result.
        public static func `continue`(
            at cursor: some LosslessStringConvertible,
            progress: Double? = nil
        ) -> Outcome {
            Outcome(cursor: String(cursor), progress: progress)
        }

        /// This was the last batch.
        public static var done: Outcome { Outcome(cursor: nil, progress: nil) }

        /// The maximum length of a cursor in bytes, which is that of a checkpoint in the state file.
        static var cursorLimit: Int { 4_096 }

        /// Throws if the next batch couldn't continue at the cursor.
        func check(after state: AppMigrationsTable.State, of version: AppVersion) throws(SQLError) {
            guard let cursor else { return }
            var problem: String?
            if cursor.utf8.count > Self.cursorLimit {
                problem =
                    "a cursor of \(cursor.utf8.count) bytes, and at most \(Self.cursorLimit) are allowed"
            }
            // Compared as bytes, because strings are also equal if they only look the same. For example, two
            // titles can encode an accent differently.
            if let began = state.cursor, cursor.utf8.elementsEqual(began.utf8) {
                problem = "the cursor at which it began, \"\(cursor)\""
            }
            guard let problem else { return }
            throw SQLError(.invalidCursor, "A batch of version \(version) ended at \(problem)")
        }
    }
}
