/// A table in which another tool records what it has done in a database.
///
/// An app that moved from such a tool to this library may still have the table. If its rows are deleted, the
/// tool runs every migration again. And if this library used it, its versions would count as applied.
package struct KnownLedger: Sendable {
    /// The tool, with the version that created the table when it was looked at.
    package let tool: String

    /// The name of the table.
    package let table: String

    /// The names of its columns.
    package let columns: [String]

    private init(_ tool: String, _ table: String, _ columns: String) {
        self.tool = tool
        self.table = table
        self.columns = columns.split(separator: " ").map(String.init)
    }

    /// The tool whose table has exactly these columns, in any order; `nil` if none is known.
    ///
    /// Only the columns are compared, because most tools let their users choose another name.
    static func tool(of columns: [String]) -> String? {
        let names = Set(columns.map { SQLName($0) })
        return all.first { Set($0.columns.map { SQLName($0) }) == names }?.tool
    }

    /// True if this is the table of a tool, by its name and its columns.
    static func contains(_ table: SQLName, columns: Set<SQLName>) -> Bool {
        all.contains { SQLName($0.table) == table && Set($0.columns.map { SQLName($0) }) == columns }
    }

    /// The tables of the tools that were looked at in November 2026.
    ///
    /// The first part was created by the tool itself, and the second part is from the tool's source.
    package static let all = [
        KnownLedger("golang-migrate", "schema_migrations", "version dirty"),
        KnownLedger("Ecto", "schema_migrations", "version inserted_at"),
        KnownLedger("Rails or dbmate", "schema_migrations", "version"),
    ]
}
