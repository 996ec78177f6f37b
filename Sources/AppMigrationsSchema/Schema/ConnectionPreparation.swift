internal import AppMigrationsSQLite

/// The caller's closure that registers an app's functions, collations, modules and tokenizers on a
/// connection.
///
/// A plan opens private databases in memory to examine schemas. They have none of the app's functions or
/// modules until the closure registers them.
struct ConnectionPreparation: Sendable {
    private let prepare: @Sendable (OpaquePointer) throws -> Void

    init(_ prepare: @escaping @Sendable (OpaquePointer) throws -> Void) { self.prepare = prepare }

    /// Registers nothing.
    static let none = ConnectionPreparation { _ in }

    /// Calls the closure with the connection's `sqlite3 *`.
    func register(on db: SQLiteConnection) throws(SQLError) {
        do { try prepare(db.handle) } catch {
            if error is CancellationError { throw SQLError.taskCancelled }
            throw SQLError(
                .refusedSchemaChange,
                "The preparing closure failed: \(error). Nothing was changed"
            ).with {
                $0.underlyingError = error
            }
        }
    }

    /// An empty database in memory on a prepared connection.
    ///
    /// Foreign keys are off here because they are off when a plan is applied. Some builds of SQLite turn them
    /// on for each new connection (SQLITE_DEFAULT_FOREIGN_KEYS). With foreign keys on, a rename would rewrite
    /// references here that the same rename leaves alone when the plan is applied.
    func makeDatabase() throws(SQLError) -> SQLiteConnection {
        let db = try SQLiteConnection(path: ":memory:")
        try register(on: db)
        db.turnForeignKeysOff()
        db.setLegacyRenaming(false)
        return db
    }
}

extension SQLError {
    /// The advice if an error says that a function, a collation, a module or a tokenizer is missing; `nil`
    /// otherwise.
    var registrationAdvice: String? { Self.registrationAdvice(for: message) }

    /// The advice for SQLite's message that a function, a collation, a module or a tokenizer is missing.
    static func registrationAdvice(for message: String) -> String? {
        if !saysRegistrationIsMissing(message) { return nil }
        return "Register it on each private connection in the preparing closure"
    }

    /// The advice for SQLite's message about an expression: `correction`, such as "Correct the hints", or to
    /// register a function or anything else that is missing.
    static func advice(_ correction: String, forExpressionFailing message: String) -> String {
        guard let advice = registrationAdvice(for: message) else { return correction }
        return "\(correction), or register what the expression needs. \(advice)"
    }
}
