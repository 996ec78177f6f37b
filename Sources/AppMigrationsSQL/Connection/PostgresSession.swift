/// PostgreSQL as the migrator sees it.
///
/// Nothing of it outlives a transaction: behind a pooler of connections the next statement may go to another session.
struct PostgresSession: SQLSession {
    /// Whether the connection takes one statement at a time.
    let isAwaited: Bool

    func placeholder(_ number: Int) -> String { "$\(number)" }

    var schema: String { "" }

    var integerType: String { "BIGINT" }

    var now: String { "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')" }

    func columns(of table: String) -> SQLWork<[[SQLValue]]> {
        .rows(
            """
            SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = to_regclass(\(SQLValue.text(self.table(table)))) AND attnum > 0 AND NOT attisdropped
            """
        )
    }

    func has(_ table: TablesOfTexts.Table) -> SQLWork<Bool> {
        // PostgreSQL folds the case of names without quotes and looks along its search path.
        SQLWork.rows("SELECT 1 FROM pg_class WHERE oid = to_regclass($1)", [.text(table.text)]).map {
            !$0.isEmpty
        }
    }

    var goesOnAfterErrors: Bool { false }

    func firstValues(of sql: String) -> SQLWork<[SQLValue]> {
        SQLWork.rows(sql).map { $0.compactMap(\.first) }
    }

    func check(_ script: String) throws(SQLError) {
        try SQLScript(script).refuseZeroBytes()
        if isAwaited { _ = try PostgresStatements(script) }
    }

    func run(script: String) -> SQLWork<Void> {
        behindSavepoint {
            .trying {
                guard isAwaited else { return .script(script) }
                return .each(
                    try PostgresStatements(script).statements.map { ($0.text, $0.line, $0.column) }[...]
                )
            }
        }
    }

    func rollBack() -> SQLWork<Void> { .statement("ROLLBACK") }

    func waiting(_ time: Duration, _ body: @escaping () -> SQLWork<Void>) -> SQLWork<Void> { body() }

    func withoutForeignKeys(_ body: @escaping (_ checks: Bool) -> SQLWork<Void>) -> SQLWork<Void> {
        body(false)
    }

    func checkingReferences(_ body: @escaping () -> SQLWork<Void>) -> SQLWork<Void> { body() }

    /// The log is one for all, and a durable commit writes it up to itself: the transaction alone says what it needs.
    func lasting(durably: Bool, _ body: @escaping () -> SQLWork<Void>) -> SQLWork<Void> { body() }
}
