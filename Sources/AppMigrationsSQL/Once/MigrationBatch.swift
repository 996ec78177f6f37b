internal import AppMigrations

/// Where the batch before this one ended.
///
/// `MigrationManager.whenMigrating(toVersion:in:batches:)` hands it to its closure.
public struct MigrationBatch: Sendable {
    /// The cursor that the last batch in this database returned, `nil` for the first one.
    ///
    /// It was written in the transaction of that batch, so it stands where the data stands: after a death, in a
    /// restored backup, and where another process did some of the batches.
    public let cursor: String?

    let version: AppVersion

    /// The cursor as a value, `nil` for the first batch.
    ///
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/invalidCursor`` where the text is not one of that type.
    public func cursor<Value: LosslessStringConvertible>(as type: Value.Type) throws(SQLError) -> Value? {
        guard let cursor else { return nil }
        if let value = Value(cursor) { return value }
        throw SQLError(
            .invalidCursor,
            "The cursor \"\(cursor)\" of version \(version) can't be read as \(type)"
        )
    }

    /// The answer of a batch: there is more to do, and from where on, or nothing is left.
    public struct Outcome: Sendable {
        let cursor: String?
        let progress: Double?

        /// The batch is done, and the next one begins at a cursor.
        ///
        /// - Parameters:
        ///   - cursor: Where the next batch begins: the last row id, or any other value that a text gives back. It differs
        ///     from the cursor that the batch was given, and takes at most 4,096 bytes.
        ///   - progress: How much of the migration is done, from 0 to 1. It is sent as an event after the commit.
        /// - Returns: The answer.
        public static func `continue`(
            at cursor: some LosslessStringConvertible,
            progress: Double? = nil
        ) -> Outcome {
            Outcome(cursor: String(cursor), progress: progress)
        }

        /// The batch is done, and it was the last one.
        public static var done: Outcome { Outcome(cursor: nil, progress: nil) }

        /// The longest cursor, in bytes: as long as a checkpoint of the state file may be.
        static var cursorLimit: Int { 4_096 }

        /// Throws where the next batch could not go on at the cursor.
        func check(after place: AppMigrationsTable.Place, of version: AppVersion) throws(SQLError) {
            guard let cursor else { return }
            var problem: String?
            if cursor.utf8.count > Self.cursorLimit {
                problem =
                    "a cursor of \(cursor.utf8.count) bytes, and at most \(Self.cursorLimit) are allowed"
            }
            // Strings are equal where they only look the same: two titles, one of which has its accents apart.
            if let began = place.cursor, cursor.utf8.elementsEqual(began.utf8) {
                problem = "the cursor at which it began, \"\(cursor)\""
            }
            guard let problem else { return }
            throw SQLError(.invalidCursor, "A batch of version \(version) ended at \(problem)")
        }
    }
}
