package import AppMigrations

#if canImport(Darwin)
public import Foundation
#endif

/// An error of a statement, a script or a migration that failed or was refused.
///
/// Its properties say where.
///
/// ``description`` has all of its properties in a few sentences. It also says what the call did not change
/// and what to do. To decide in code, use ``code``.
///
/// On Apple's systems, `localizedDescription` is the same text. On other systems it says nothing, because it
/// needs a protocol of Foundation, which this library doesn't use there: show `"\(error)"`.
public struct SQLError: Error, Sendable, CustomStringConvertible {
    // The facts are in one object. Otherwise every function that throws would copy them one by one.
    private let box: Box

    private final class Box: Sendable {
        let facts: Facts

        init(_ facts: Facts) { self.facts = facts }
    }

    package struct Facts: Sendable {
        package var code: Code
        package var message: String
        package var extendedResultCode: Int32?
        package var sqlState: String?
        package var statement: String?
        package var path: String?
        package var line: Int?
        package var column: Int?
        package var version: Int64?
        package var migrationName: String?
        package var applied = [Int64]()
        package var editedVersions = [Int64]()
        package var underlyingError: (any Error)?
        /// The advice for the user of an app, if it differs from that of the code.
        package var userAdvice: MigrationAdvice?
        /// True if the connection failed, and no server reported a reason.
        package var isOfLostConnection = false
        /// True if the line and the column are a position in the file at the path.
        package var hasPositionInFile = false
        /// The state in which the store was left, as a sentence.
        package var outcome: String?
    }

    private init(_ facts: Facts) { box = Box(facts) }

    // Not inlined: it is called in many places, and inlining would make the binary larger.
    @inline(never)
    package init(_ code: Code, _ message: String) { self.init(Facts(code: code, message: message)) }

    package var facts: Facts { box.facts }

    /// This error with some facts changed.
    // Not inlined: it is called in many places, and inlining would make the binary larger.
    @inline(never)
    package func with(_ change: (inout Facts) -> Void) -> SQLError {
        var facts = facts
        change(&facts)
        return SQLError(facts)
    }

    /// The kind of error.
    ///
    /// A later release may add kinds, so keep a `default` in a `switch`.
    public var code: Code { facts.code }

    /// The reason: the message of SQLite or of the server, if there is one.
    public var message: String { facts.message }

    /// SQLite's extended result code, if SQLite failed ("Result and Error Codes").
    public var extendedResultCode: Int32? { facts.extendedResultCode }

    /// The server's SQLSTATE, if the connection reports one.
    public var sqlState: String? { facts.sqlState }

    /// The statement that failed or was refused.
    public var statement: String? { facts.statement }

    /// The path of the file that the error is about: a script, a folder of scripts, a database or a store.
    ///
    /// It is `nil` for a database in memory, and for a connection of another library, which doesn't report
    /// its path.
    public var path: String? { facts.path }

    /// The line in the script, counted from 1.
    public var line: Int? { facts.line }

    /// The column in the line, counted in Unicode scalars from 1.
    public var column: Int? { facts.column }

    /// The version of the migration, if a migrator ran one.
    public var version: Int64? { facts.version }

    /// The name of the migration, if it has one.
    public var migrationName: String? { facts.migrationName }

    /// The versions that the call applied before the failure, and that stay applied.
    ///
    /// It is empty if `migrateStaged` deleted its copy: that call migrates a copy of the store, so no
    /// migration stays applied.
    public var applied: [Int64] { facts.applied }

    /// The versions whose SQL was edited after it was applied, if a call of `migrate` found any before it
    /// failed.
    public var editedVersions: [Int64] { facts.editedVersions }

    /// The error that caused this one, if it wasn't SQLite's.
    public var underlyingError: (any Error)? { facts.underlyingError }

    /// The state in which the store was left, as a sentence.
    package var outcome: String? { facts.outcome }

    /// The full text: what failed, where, what the call did not change, and what to do.
    public var description: String {
        var text = ""
        if let version {
            text = "Migration \(version)"
            if let migrationName { text += " (\(migrationName))" }
            text += ": "
        }
        if let location { text += "\(location): " }
        text += message
        if let extendedResultCode { text += " (SQLite error \(extendedResultCode))" }
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if let last = text.last, !".!?".contains(last) { text += "." }
        if let statement { text += " Statement: \(Self.shortened(statement))" }
        if !applied.isEmpty {
            let versions = applied.map(String.init).joined(separator: ", ")
            text += " Applied before the failure and kept: \(versions)."
        }
        if !editedVersions.isEmpty {
            text +=
                " Edited after it was applied: \(editedVersions.map(String.init).joined(separator: ", "))."
        }
        if let outcome { text += " \(outcome)." }
        if code.saysNoMigrationWasRun {
            text += applied.isEmpty ? " No migration was run." : " No further migration was run."
        }
        let advice = isVirtualTableDamage ? Self.virtualTableAdvice : code.advice
        if let advice { text += " \(advice)" }
        return text
    }

    /// True if a virtual table reports that its content is damaged (`SQLITE_CORRUPT_VTAB`).
    ///
    /// The rest of the database is intact.
    package var isVirtualTableDamage: Bool { code == .damaged && extendedResultCode == 267 }

    private static var virtualTableAdvice: String {
        "The content of a virtual table is damaged, and not the store. Rebuild the table, which for a full-text index f is"
            + " INSERT INTO f(f) VALUES('rebuild'). If that fails in the same way, SQLite can neither open nor drop the table:"
            + " the page \"When a database is damaged\" shows how to create it again."
    }

    private var location: String? {
        guard let line, let column else { return path }
        guard let path else { return "line \(line), column \(column)" }
        return facts.hasPositionInFile
            ? "\(path):\(line):\(column)" : "\(path): line \(line), column \(column)"
    }

    /// The first 200 characters, in one line.
    ///
    /// They are enough to recognize a statement, and keep an error short enough for one line of a log. The
    /// property ``statement`` has the whole statement with its line breaks.
    private static func shortened(_ statement: String) -> String {
        let limit = 200
        let lines = statement.split(whereSeparator: \.isNewline).map { $0.drop { $0.isWhitespace } }
        let line = lines.joined(separator: " ")
        guard line.count > limit else { return line.hasSuffix(";") ? line : line + ";" }
        return "\(line.prefix(limit))…"
    }
}

#if canImport(Darwin)
extension SQLError: LocalizedError {
    /// The text of ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif
