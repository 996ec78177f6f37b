import Splitter

/// Runs a script as a whole and statement by statement, each in a transaction that is rolled back.
struct Comparison {
    private let server: Server
    private(set) var statements = 0
    private(set) var succeeded = 0
    private(set) var refused = 0

    init(_ server: Server) throws {
        self.server = server
        try makeSchema()
    }

    /// The difference between both, as a sentence; `nil` where there is none.
    mutating func difference(of script: String) throws -> String? {
        let whole = try outcome { try server.whole(script) }
        let split: PostgresStatements
        do {
            split = try PostgresStatements(script)
        } catch {
            refused += 1
            return whole.failure == nil ? "the server runs what is refused: \(error)" : nil
        }
        if whole.failure == "COPY" { return "a COPY is not refused" }
        statements += split.statements.count
        let parts = try outcome { try split.statements.flatMap { try server.statement($0.text) } }
        guard let failure = whole.failure else {
            succeeded += 1
            return whole == parts ? nil : "the whole gives \(whole), its statements \(parts)"
        }
        if whole.successes.isEmpty, parts.results.contains(where: { $0.state == failure }) { return nil }
        // The simple protocol knows no parameters, and the extended one misses their values.
        if parts.successes == whole.successes, parts.failure != nil,
            parts.failure == failure || failure == "42P02"
        {
            return nil
        }
        return "the whole fails with \(failure) after \(whole.successes), its statements give \(parts)"
    }

    private func outcome(_ run: () throws -> [Outcome.Result]) throws -> Outcome {
        try server.run("BEGIN")
        var outcome = Outcome(results: try run(), isInTransaction: server.isInTransaction)
        if outcome.failure == nil { outcome.effect = try server.whole(Self.effect).map(\.text).joined() }
        if outcome.isInTransaction { try server.run("ROLLBACK") } else { try makeSchema() }
        return outcome
    }

    private func makeSchema() throws {
        try server.run(
            """
            SET statement_timeout = '10s';
            DROP SCHEMA IF EXISTS scripts CASCADE; CREATE SCHEMA scripts; SET search_path = scripts;
            CREATE TABLE a(x NUMERIC, t TEXT); INSERT INTO a VALUES (1, 'one'), (2, ';');
            CREATE DOMAIN atomic AS int
            """
        )
    }

    private static let effect = """
        SELECT x, t FROM scripts.a ORDER BY x, t;
        SELECT oid::regprocedure::text, prosrc, pg_get_function_sqlbody(oid) FROM pg_proc
        WHERE pronamespace = 'scripts'::regnamespace ORDER BY 1;
        SELECT definition FROM pg_rules WHERE schemaname = 'scripts' ORDER BY 1;
        SELECT relname, obj_description(oid) FROM pg_class WHERE relnamespace = 'scripts'::regnamespace AND relkind = 'r'
        ORDER BY 1
        """
}
