#if canImport(Darwin)
public import Foundation
#endif

/// Why a statement, a script or a migration failed or was refused, with the facts to find the place.
///
/// ``description`` has all of them in a few sentences, with what the call did not change and what to do. Decide by
/// ``code``.
///
/// On Apple's systems `localizedDescription` is the same text. Elsewhere it says nothing, since Foundation asks a protocol
/// of its own and this library does without Foundation there: show `"\(error)"`.
public struct SQLError: Error, Sendable, CustomStringConvertible {
    // The facts are behind one reference: they would be copied one by one in every function that throws.
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
        package var changed = [Int64]()
        package var underlyingError: (any Error)?
        /// True if the connection failed, and no server said why.
        package var isOfLostConnection = false
        /// True if the line and the column are places in the file at the path.
        package var hasPlaceInFile = false
        /// The fate of the store, as a sentence.
        package var outcome: String?
    }

    private init(_ facts: Facts) { box = Box(facts) }

    // Once, and not wherever it is called.
    @inline(never)
    package init(_ code: Code, _ message: String) { self.init(Facts(code: code, message: message)) }

    package var facts: Facts { box.facts }

    /// This error with other facts.
    // Once, and not wherever it is called.
    @inline(never)
    package func with(_ change: (inout Facts) -> Void) -> SQLError {
        var facts = facts
        change(&facts)
        return SQLError(facts)
    }

    /// The kind of error.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public var code: Code { facts.code }

    /// The reason, in the words of SQLite or of the server where one said so.
    public var message: String { facts.message }

    /// SQLite's extended result code, where SQLite failed ("Result and Error Codes").
    public var extendedResultCode: Int32? { facts.extendedResultCode }

    /// The server's SQLSTATE, where a connection gives one.
    public var sqlState: String? { facts.sqlState }

    /// The statement that failed or was refused.
    public var statement: String? { facts.statement }

    /// The path of the file that the error is about: a script, a folder of scripts, a database or a store.
    ///
    /// `nil` for a database in memory, and for one on a connection of another library, which doesn't tell it.
    public var path: String? { facts.path }

    /// The line in the script, counted from 1.
    public var line: Int? { facts.line }

    /// The column in the line, counted in Unicode scalars from 1.
    public var column: Int? { facts.column }

    /// The version of the migration, where a migrator ran one.
    public var version: Int64? { facts.version }

    /// The name of the migration, where it has one.
    public var migrationName: String? { facts.migrationName }

    /// The versions that the same call had applied before the failure, and that stay applied.
    ///
    /// None where `migrateStaged` threw the copy away.
    public var applied: [Int64] { facts.applied }

    /// The versions whose SQL is another one than when it was applied, where a call of `migrate` had found any before it failed.
    public var changed: [Int64] { facts.changed }

    /// The error behind this one, when it was not SQLite's.
    public var underlyingError: (any Error)? { facts.underlyingError }

    /// The fate of the store, as a sentence.
    package var outcome: String? { facts.outcome }

    /// The whole text: what happened, where, what the call did not change, and what to do.
    public var description: String {
        var text = ""
        if let version {
            text = "Migration \(version)"
            if let migrationName { text += " (\(migrationName))" }
            text += ": "
        }
        if let place { text += "\(place): " }
        text += message
        if let extendedResultCode { text += " (SQLite error \(extendedResultCode))" }
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if let last = text.last, !".!?".contains(last) { text += "." }
        if let statement { text += " Statement: \(Self.shortened(statement))" }
        if !applied.isEmpty {
            text += " Applied before it and kept: \(applied.map(String.init).joined(separator: ", "))."
        }
        if !changed.isEmpty {
            text += " Edited after it was applied: \(changed.map(String.init).joined(separator: ", "))."
        }
        if let outcome { text += " \(outcome)." }
        let unrun = applied.isEmpty ? "No migration was run." : "No further migration was run."
        let advice = isOfVirtualTable ? Self.virtualTableAdvice : code.advice(unrun)
        if let advice { text += " \(advice)" }
        return text
    }

    /// True if a virtual table says that its content is damaged, which is no damage of the database
    /// (`SQLITE_CORRUPT_VTAB`).
    private var isOfVirtualTable: Bool { code == .damaged && extendedResultCode == 267 }

    private static var virtualTableAdvice: String {
        "The content of a virtual table is damaged, and not the store. Drop the table and create it again, or rebuild it,"
            + " which for a full-text index f is INSERT INTO f(f) VALUES('rebuild')."
    }

    private var place: String? {
        guard let line, let column else { return path }
        guard let path else { return "line \(line), column \(column)" }
        return facts.hasPlaceInFile ? "\(path):\(line):\(column)" : "\(path): line \(line), column \(column)"
    }

    /// The first 200 characters: enough to know a statement, and an error stays a line in a log.
    private static func shortened(_ statement: String) -> String {
        let limit = 200
        guard statement.count > limit else { return statement.hasSuffix(";") ? statement : statement + ";" }
        return "\(statement.prefix(limit))…"
    }
}

#if canImport(Darwin)
extension SQLError: LocalizedError {
    /// The text of ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif
