internal import AppMigrations

/// What a migrator knows of a migration without its connection: its number, its name and where its SQL is.
struct SQLStep: Sendable {
    let version: Int64
    let name: String?
    /// `nil` for a closure.
    let source: Source?
    /// Whether its statement runs outside of a transaction; a script can say so as well.
    var isAlone = false

    /// Where the SQL of a migration is.
    enum Source: Sendable {
        case text(String)
        case file(String)
    }

    /// The path of the file that holds the SQL, where there is one.
    var file: String? {
        if case .file(let path) = source { path } else { nil }
    }

    /// The version with the name or the file, for an error.
    var label: String { file ?? name.map { "\(version) (\($0))" } ?? "\(version)" }

    /// Tells an error which migration it is about, and which file where the file can be at fault.
    func located(_ error: SQLError, blamesFile: Bool = true) -> SQLError {
        var error = error
        error.change { ($0.version, $0.migrationName) = (version, name) }
        if let file, blamesFile, !error.code.isOfDatabase {
            error.change { ($0.path, $0.hasPlaceInFile) = (file, true) }
        }
        return error
    }
}

extension SQLStep {
    /// Reads the SQL; `nil` for a closure.
    func text() throws(SQLError) -> String? {
        switch source {
        case nil: return nil
        case .text(let text): return text
        case .file(let path):
            let content: [UInt8]?
            do {
                content = try Platform.bytes(ofFile: path)
            } catch {
                throw located(SQLError(.fileFailure, "\(error). Nothing was run"))
            }
            guard let bytes = content else {
                throw located(SQLError(.fileFailure, "It is not a regular file. Nothing was run"))
            }
            if let text = String(validUTF8: bytes) { return text }
            var error = SQLError(
                .fileFailure,
                "The file is not UTF-8 from here on. Save it as UTF-8. Nothing was run"
            )
            let valid = String(decoding: bytes, as: UTF8.self).utf8
            // The repaired text is the same up to the first byte that was not UTF-8.
            let offset = zip(bytes, valid).prefix { $0 == $1 }.count
            error.change { ($0.line, $0.column) = SQLScript.position(at: offset, in: bytes[...]) }
            throw located(error)
        }
    }

    /// The fingerprint of the SQL; `nil` for a closure, which has none.
    func checksum() throws(SQLError) -> String? { try text().map(SQLChecksum.of) }
}
