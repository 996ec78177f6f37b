internal import AppMigrations

/// The migrations of a migrator and its settings, without the type of its connection.
struct SQLSteps: Sendable {
    /// In the order of their versions.
    let all: [SQLStep]
    /// The table that records what was applied.
    let ledger: String
    /// True if all that are pending share a transaction.
    let isOneTransaction: Bool
    /// True if nothing is run where one was edited after it was applied.
    let refusesChanged: Bool
    /// True if no migration is run while one is pending below a version that was applied already.
    let refusesOutOfOrder: Bool
    let lockTimeout: Duration

    /// Refuses versions and names that can't be.
    func check() throws(SQLError) {
        if ledger.isEmpty || ledger.utf8.contains(0) {
            throw SQLError(.ledgerUnreadable, "The name of a ledger must not be empty or contain a zero byte")
        }
        for index in all.indices {
            let step = all[index]
            if step.version < 0 || step.version >= 1_000_000_000_000_000_000 {
                throw step.located(SQLError(.invalidVersion, "The version \(step.version) is out of range"))
            }
            guard index > 0, all[index - 1].version == step.version else { continue }
            let labels = "\(all[index - 1].label) and \(step.label)"
            throw SQLError(.duplicateVersion, "Two migrations have the version \(step.version): \(labels)")
        }
    }

    /// Compares a ledger with the migrations.
    func status(by ledger: SQLLedger) throws(SQLError) -> SQLMigrationStatus {
        try ledger.session.waiting(lockTimeout) { () throws(SQLError) in try ledger.compare(with: all) }
        return SQLMigrationStatus(of: ledger, with: all)
    }

    /// Records the steps up to a version that are not recorded, and gives their versions; none in a ledger that is there, unless
    /// it is to be corrected.
    func markApplied(
        upTo version: Int64,
        in ledger: SQLLedger,
        correcting: Bool
    ) throws(SQLError) -> [Int64] {
        var recorded = [Int64]()
        try ledger.session.waiting(lockTimeout) { () throws(SQLError) in
            try ledger.read()
            if ledger.exists && !correcting || version == 0 { return }
            try checkTarget(version)
            let lock = SQLLockWait(lockTimeout, ledger: ledger.name)
            try ledger.session.transaction(lock) { () throws(SQLError) in
                try ledger.read()
                // Another process may have been faster.
                if ledger.exists && !correcting { return }
                try ledger.make()
                for step in all.prefix(while: { $0.version <= version }) {
                    if try ledger.hasApplied(step.version) { continue }
                    try ledger.record(step.version, name: step.name, checksum: try step.checksum())
                    recorded.append(step.version)
                }
            }
        }
        return recorded
    }

    /// True if the newest migration applied is recorded with another text.
    ///
    /// A start that has nothing to do compares this one: it reads one file at most, and a ledger that another migrator
    /// wrote differs here as everywhere.
    func hasOtherText(newestOf status: SQLMigrationStatus, in ledger: SQLLedger) throws(SQLError) -> Bool {
        guard let newest = all.last(where: { status.applied.contains($0.version) }),
            let then = try ledger.checksum(of: newest.version)
        else { return false }
        return try newest.checksum() != then
    }

    func checkTarget(_ target: Int64) throws(SQLError) {
        guard !all.contains(where: { $0.version == target }) else { return }
        throw SQLError(.unknownTarget, "No migration has the version \(target)")
    }
}

/// A migration without its connection: its number, its name and where its SQL is.
///
/// An idle check would take longer to copy structs of these than to read their versions.
final class SQLStep: Sendable {
    let version: Int64
    let name: String?
    /// The SQL, where it isn't in a file.
    let script: String?
    /// The path of the file that holds the SQL, where there is one; a closure has neither.
    let file: String?
    /// True if its statement runs outside of a transaction; a script can say so as well.
    let isAlone: Bool

    init(version: Int64, name: String?, script: String? = nil, file: String? = nil, isAlone: Bool = false) {
        (self.version, self.name, self.isAlone) = (version, name, isAlone)
        (self.script, self.file) = (script, file)
    }

    /// The version with the name or the file, for an error.
    var label: String { file ?? name.map { "\(version) (\($0))" } ?? "\(version)" }

    /// Tells an error which migration it is about, and which file where the file can be at fault.
    func located(_ error: SQLError, blamesFile: Bool = true) -> SQLError {
        error.with {
            ($0.version, $0.migrationName) = (version, name)
            if let file, blamesFile, !$0.code.isOfDatabase { ($0.path, $0.hasPlaceInFile) = (file, true) }
        }
    }

    /// True if a script is to run outside of a transaction, which its first line can say as well.
    func runsAlone(_ script: String) throws(SQLError) -> Bool {
        let line = SQLScript(script).bytes.dropLast().prefix { $0 != UInt8(ascii: "\n") }
        // Few begin with a comment, and words take longer than all else that is done with a script before it runs.
        guard let start = line.firstIndex(where: { !SQLScript.isBlank($0) }), line[start] == UInt8(ascii: "-")
        else { return isAlone }
        let words = SQLTokens(String(decoding: line[start...].dropFirst(2), as: UTF8.self))
        guard words.isWord(0, "APP"), words.isSign(1, "-"), words.isWord(2, "MIGRATIONS"),
            words.isSign(3, ":")
        else { return isAlone }
        let request = words.tokens.indices.dropFirst(4).map(words.text).joined(separator: " ")
        if request.lowercased() == "no transaction" { return true }
        throw SQLError(
            .invalidScript,
            "The first line asks for \"\(request)\", and only \"no transaction\" is known"
        ).with { ($0.line, $0.column) = (1, 1) }
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
        // Bytes that are not UTF-8 are replaced, and the replacement has other bytes.
        let valid = Array(String(decoding: bytes, as: UTF8.self).utf8)
        let message = "The file is not UTF-8 from here on. Save it as UTF-8. No migration was run"
        let offset = bytes.indices.first { $0 >= valid.count || bytes[$0] != valid[$0] } ?? bytes.count
        let script = SQLScript(String(decoding: bytes[..<offset], as: UTF8.self))
        throw located(script.error(.fileFailure, message, at: script.count))
    }

    /// The fingerprint of the SQL; `nil` for a closure, which has none.
    func checksum() throws(SQLError) -> String? { try text().map(SQLChecksum.of) }
}

extension [SQLStep] {
    /// Puts a migration behind those of lower versions, and of two files of one version behind the one that is named first.
    ///
    /// Mostly they come in order, and the first sort of a process costs as much as all the rest of an idle check.
    mutating func insertInOrder(_ step: SQLStep) {
        if last?.version ?? .min < step.version { return append(step) }
        let former = lastIndex {
            $0.version < step.version || $0.version == step.version && $0.file ?? "" <= step.file ?? ""
        }
        insert(step, at: former.map { $0 + 1 } ?? 0)
    }
}
