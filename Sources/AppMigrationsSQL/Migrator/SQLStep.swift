internal import AppMigrations

/// A migration without the type of its connection: its version, its name and its SQL.
///
/// It is a class, because copying structs would take longer than comparing the versions, in a `migrate` that
/// has nothing to run.
final class SQLStep: Sendable {
    let version: Int64
    let name: String?
    /// The SQL; `nil` if it is in a file, and for a closure.
    let script: String?
    /// The path of the file with the SQL; `nil` if there is no file.
    let file: String?
    /// True if its statement runs outside of a transaction.
    ///
    /// The script's first line can ask for this as well.
    let runsOutsideTransaction: Bool

    init(
        version: Int64,
        name: String?,
        script: String? = nil,
        file: String? = nil,
        runsOutsideTransaction: Bool = false
    ) {
        self.version = version
        self.name = name
        self.script = script
        self.file = file
        self.runsOutsideTransaction = runsOutsideTransaction
    }

    /// The file, or the version with the name, for the message of an error.
    var label: String { file ?? name.map { "\(version) (\($0))" } ?? "\(version)" }

    /// Returns an error with the version and the name of this migration.
    ///
    /// If `namingFile` is true, it also gets the path of the migration's file, unless the error is about the
    /// database.
    func located(_ error: SQLError, namingFile: Bool = true) -> SQLError {
        error.with {
            $0.version = version
            $0.migrationName = name
            guard let file, namingFile, !$0.code.isOfDatabase else { return }
            $0.path = file
            $0.hasPositionInFile = true
        }
    }

    /// True if a script must run outside of a transaction: the migration was created with `inTransaction:
    /// false`, or the script's first line asks for it.
    func mustRunOutsideTransaction(_ script: String) throws(SQLError) -> Bool {
        let line = SQLScript(script).bytes.dropLast().prefix { $0 != UInt8(ascii: "\n") }
        // Few scripts begin with a comment, and reading tokens takes longer than everything else that is done
        // with a script before it runs.
        guard let start = line.firstIndex(where: { !SQLScript.isBlank($0) }), line[start] == UInt8(ascii: "-")
        else { return runsOutsideTransaction }
        let words = SQLTokens(String(decoding: line[start...].dropFirst(2), as: UTF8.self))
        guard words.isWord(0, "APP"), words.isSign(1, "-"), words.isWord(2, "MIGRATIONS"),
            words.isSign(3, ":")
        else { return runsOutsideTransaction }
        let request = words.tokens.indices.dropFirst(4).map(words.text).joined(separator: " ")
        if request.lowercased() == "no transaction" { return true }
        throw SQLError(
            .invalidScript,
            "The first line asks for \"\(request)\", and only \"no transaction\" is known"
        ).located(at: (line: 1, column: 1))
    }

    /// Reads the SQL; `nil` for a closure.
    func text() throws(SQLError) -> String? {
        guard let file else { return script }
        let content: [UInt8]?
        do { content = try Platform.bytes(ofFile: file) } catch {
            throw located(SQLError(.fileFailure, "\(error). No migration was run"))
        }
        guard let bytes = content else {
            throw located(SQLError(.fileFailure, "It is not a regular file. No migration was run"))
        }
        if let text = String(validUTF8: bytes) { return text }
        // Decoding replaces bytes that aren't UTF-8. The first byte that changes is the first invalid one.
        let valid = Array(String(decoding: bytes, as: UTF8.self).utf8)
        let message = "The file is not UTF-8 from here on. Save it as UTF-8. No migration was run"
        let offset = bytes.indices.first { $0 >= valid.count || bytes[$0] != valid[$0] } ?? bytes.count
        let script = SQLScript(String(decoding: bytes[..<offset], as: UTF8.self))
        throw located(script.error(.fileFailure, message, at: script.count))
    }

    /// The checksum of the SQL; `nil` for a closure.
    func checksum() throws(SQLError) -> String? { try text().map(SQLChecksum.of) }
}

extension [SQLStep] {
    /// Inserts a migration so that the array stays in the order of versions, and of file names if versions
    /// are equal.
    ///
    /// Usually the migrations are already in order. The first call of `sort` in a process takes as long as
    /// the rest of a `migrate` that has nothing to run.
    mutating func insertInOrder(_ step: SQLStep) {
        if last?.version ?? .min < step.version { return append(step) }
        let predecessor = lastIndex {
            $0.version < step.version || $0.version == step.version && $0.file ?? "" <= step.file ?? ""
        }
        insert(step, at: predecessor.map { $0 + 1 } ?? 0)
    }
}
