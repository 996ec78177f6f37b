internal import AppMigrations

/// Where the batch before this one ended.
///
/// `MigrationManager.whenMigrating(toVersion:in:batches:)` hands it to its closure.
public struct MigrationBatch: Sendable {
    /// What the last batch in this database returned, `nil` for the first one.
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
        throw SQLError(.invalidCursor, "The cursor \"\(cursor)\" of version \(version) is no \(type)")
    }
}
