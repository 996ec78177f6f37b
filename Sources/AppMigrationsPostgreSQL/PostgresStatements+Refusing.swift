internal import AppMigrationsSQL

extension PostgresStatements {
    /// Refuses what would begin or end a transaction, which is the migrator's to do.
    ///
    /// The server would commit what came before it, and then run the rest by itself.
    func refuseTransactions() throws(SQLError) {
        for statement in statements {
            let words = try Words(of: statement.text)
            guard let found = words.ofTransaction else { continue }
            var error = SQLError(
                .refusedStatement,
                "A script in a transaction may not \(found): its transaction is begun and ended for it. Remove the statement"
            )
            error.change { ($0.line, $0.column) = (statement.line, statement.column) }
            throw error
        }
    }

    /// The first words and signs of a statement.
    struct Words {
        private var texts = [String]()
        /// In capitals.
        private let words: [String]

        init(of statement: String) throws(SQLError) {
            let script = SQLScript(statement)
            var tokens = PostgresTokens(script)
            while texts.count < 64, try tokens.next() != nil {
                texts.append(script.text(from: tokens.range.lowerBound, to: tokens.range.upperBound))
            }
            words = texts.map { $0.uppercased() }
        }

        func begin(with start: String...) -> Bool { words.starts(with: start) }

        /// The words of a statement that begins or ends a transaction; `nil` for any other one.
        ///
        /// A savepoint stays inside of its transaction.
        var ofTransaction: String? {
            switch words.first {
            case "BEGIN", "COMMIT", "END", "ABORT": words[0]
            case "START", "PREPARE":
                words.dropFirst().first == "TRANSACTION" ? "\(words[0]) TRANSACTION" : nil
            case "ROLLBACK": words.contains("TO") ? nil : words[0]
            default: nil
            }
        }

        /// Whether the statement may take the lock of a table for which every reader or writer behind it waits.
        var lockTables: Bool { ["ALTER", "CREATE", "DROP", "LOCK", "TRUNCATE"].contains(words.first) }

        /// The index that CREATE INDEX CONCURRENTLY makes, and its table, as they stand in the statement.
        ///
        /// `nil` for any other statement, and where the server chooses the name, which is another one each time then.
        var index: (name: String, table: String)? {
            guard begin(with: "CREATE"), let start = words.prefix(4).firstIndex(of: "CONCURRENTLY"),
                words[start - 1] == "INDEX", let on = words.firstIndex(of: "ON"), on > start + 1
            else { return nil }
            let first = words.dropFirst(on + 1).first == "ONLY" ? on + 2 : on + 1
            let end = words.indices.first { $0 > first && ["(", "USING"].contains(words[$0]) } ?? words.count
            return (texts[on - 1], texts[first..<end].joined())
        }
    }
}
