/// Why a statement, a script or a migration failed or was refused, with the facts to find the place.
///
/// ``description`` has all of them in a few sentences, with what was not changed and the way out. Decide by
/// ``code``.
///
/// On Apple's systems `localizedDescription` is the same text. Elsewhere it says nothing, since Foundation asks a protocol
/// of its own and this library does without Foundation there: show `"\(error)"`.
///
/// ## Topics
///
/// ### Deciding
///
/// - ``code-property``
/// - ``Code-struct``
/// - ``extendedResultCode``
/// - ``sqlState``
///
/// ### Showing
///
/// - ``description``
/// - ``message``
///
/// ### The place
///
/// - ``version``
/// - ``migrationName``
/// - ``path``
/// - ``line``
/// - ``column``
/// - ``statement``
///
/// ### Behind it, and before it
///
/// - ``underlyingError``
/// - ``applied``
public struct SQLError: Error, Sendable, CustomStringConvertible {
    // One reference: the fields would be copied one by one wherever an error passes, in every function that throws.
    private var facts: Facts

    private final class Facts: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    private struct Values: Sendable {
        var code: Code
        var message: String
        var extendedResultCode: Int32?
        var sqlState: String?
        var statement: String?
        var path: String?
        var line: Int?
        var column: Int?
        var version: Int64?
        var migrationName: String?
        var applied = [Int64]()
        var underlyingError: (any Error)?
        var hasPlaceInFile = false
        var outcome: String?
    }

    package init(_ code: Code, _ message: String) {
        facts = Facts(Values(code: code, message: message))
    }

    // Once, and not in each of the setters.
    @inline(never)
    private mutating func change(_ body: (inout Values) -> Void) {
        var values = facts.values
        body(&values)
        facts = Facts(values)
    }

    /// What went wrong, by kind.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public package(set) var code: Code {
        get { facts.values.code }
        set { change { $0.code = newValue } }
    }

    /// What happened, in the words of SQLite or of the server where one said so.
    public package(set) var message: String {
        get { facts.values.message }
        set { change { $0.message = newValue } }
    }

    /// SQLite's extended result code, where SQLite failed ("Result and Error Codes").
    public package(set) var extendedResultCode: Int32? {
        get { facts.values.extendedResultCode }
        set { change { $0.extendedResultCode = newValue } }
    }

    /// The server's SQLSTATE, where a connection gives one.
    public package(set) var sqlState: String? {
        get { facts.values.sqlState }
        set { change { $0.sqlState = newValue } }
    }

    /// The statement that failed or was refused.
    public package(set) var statement: String? {
        get { facts.values.statement }
        set { change { $0.statement = newValue } }
    }

    /// The path of the file that the error is about: a script, a folder of scripts, a database or a store.
    ///
    /// `nil` for a database in memory, and for one on a connection of another library, which doesn't tell it.
    public package(set) var path: String? {
        get { facts.values.path }
        set { change { $0.path = newValue } }
    }

    /// The line in the script, counted from 1.
    public package(set) var line: Int? {
        get { facts.values.line }
        set { change { $0.line = newValue } }
    }

    /// The column in the line, counted in Unicode scalars from 1.
    public package(set) var column: Int? {
        get { facts.values.column }
        set { change { $0.column = newValue } }
    }

    /// The version of the migration, where a migrator ran one.
    public package(set) var version: Int64? {
        get { facts.values.version }
        set { change { $0.version = newValue } }
    }

    /// The name of the migration, where it has one.
    public package(set) var migrationName: String? {
        get { facts.values.migrationName }
        set { change { $0.migrationName = newValue } }
    }

    /// The versions that the same call had applied before the failure, and that stay applied.
    ///
    /// None where `migrateStaged` threw the copy away.
    public package(set) var applied: [Int64] {
        get { facts.values.applied }
        set { change { $0.applied = newValue } }
    }

    /// The error behind this one, when it was not SQLite's.
    public package(set) var underlyingError: (any Error)? {
        get { facts.values.underlyingError }
        set { change { $0.underlyingError = newValue } }
    }

    /// Whether the line and the column are places in the file at ``path``.
    package var hasPlaceInFile: Bool {
        get { facts.values.hasPlaceInFile }
        set { change { $0.hasPlaceInFile = newValue } }
    }

    /// What became of the store, as a sentence.
    package var outcome: String? {
        get { facts.values.outcome }
        set { change { $0.outcome = newValue } }
    }
}

extension SQLError {
    /// What happened, where, what was not changed, and what to do.
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
        if let outcome { text += " \(outcome)." }
        if let advice = code.advice { text += " \(advice)" }
        return text
    }

    private var place: String? {
        guard let line, let column else { return path }
        guard let path else { return "line \(line), column \(column)" }
        return hasPlaceInFile ? "\(path):\(line):\(column)" : "\(path): line \(line), column \(column)"
    }

    /// The first 200 characters: enough to know a statement, and an error stays a line in a log.
    private static func shortened(_ statement: String) -> String {
        let limit = 200
        guard statement.count > limit else { return statement.hasSuffix(";") ? statement : statement + ";" }
        return "\(statement.prefix(limit))…"
    }
}
