extension SQLMigrator where Connection: SQLConnection {
    /// Compares the database with the migrations of this app, and changes nothing.
    ///
    /// - Parameter db: A connection.
    /// - Returns: What is applied, pending, unknown, out of order and changed.
    /// - Throws: ``SQLError``: of the database, or of a file that can't be read. A status is never made up.
    public func status(_ db: Connection) throws(SQLError) -> SQLMigrationStatus {
        let comparison = steps.comparison(in: Connection.dialect.session(SQLConversation(db)))
        try steps.read(comparison)
        return steps.status(by: comparison)
    }

    /// Records every migration up to a version as applied, without running one, where there is no ledger yet.
    ///
    /// It is for a database whose schema another library numbered. With the numbering of `user_version`
    /// that is `try migrator.baseline(db, at: db.userVersion)` before every `migrate`; once there is a
    /// ledger, and at version 0, it does nothing.
    ///
    /// - Parameters:
    ///   - db: A connection that is not in a transaction.
    ///   - version: The version of a migration, or 0.
    /// - Returns: The versions recorded.
    /// - Throws: ``SQLError``; a version that no migration has is ``SQLError/Code/unknownTarget``. One above all of them
    ///   is that of a newer release, whose database the migrations of this one must not go on with.
    @discardableResult
    public func baseline(_ db: Connection, at version: Int64) throws(SQLError) -> [Int64] {
        let ledger = SQLLedger(Connection.dialect.session(SQLConversation(db)), named: steps.ledger)
        try steps.baseline(ledger, at: version)
        return ledger.versions
    }
}
