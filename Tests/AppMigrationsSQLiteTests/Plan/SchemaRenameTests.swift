import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

@Suite struct SchemaRenameTests {
    @Test(arguments: [
        ("a b", "a", "b", "a b", ""), ("a b", "b", "b", "", ""), ("a b", "a b", "b", "", ""),
        ("a b,b c", "a", "c", "a c", ""), ("a b,b c", "b", "c", "b c", ""),
        ("a b,b c", "a b", "b c", "b c,a b", ""),
        ("a b,b c", "a", "b c", "a c", ""), ("a b", "a", "a b", "a b", ""), ("a b", "a b", "a b", "", ""),
        ("a b,b a", "a", "a", "", ""), ("a b,b a", "b", "a", "b a", ""), ("a b", "a", "x", "", "a"),
        ("a b,b c,c d", "a b c", "b c d", "c d,b c,a b", ""), ("a A", "a", "A", "", ""),
        ("x y", "a", "a", "", ""),
        ("a b,b c", "a b", "c", "b c", ""),
    ])
    func `hints of every release lead a database of any to the target`(
        hints: String,
        from: String,
        to: String,
        pending: String,
        gone: String
    ) throws {
        func names(_ text: String) -> [SQLName] { text.split(separator: " ").map { SQLName(String($0)) } }
        let asked = hints.split(separator: ",").map { names(String($0)) }.map { (old: $0[0], new: $0[1]) }
        let renames = try SchemaRenames(
            asked,
            from: names(from).contains,
            to: names(to).contains,
            mayGo: { $0 == SQLName("b") }
        ) { old, new, reason in SQLError(.refusedSchemaChange, "\(old) \(new) \(reason)") }
        #expect(renames.pending.map { "\($0.old) \($0.new)" }.joined(separator: ",") == pending)
        #expect(renames.gone.map(\.text).joined() == gone)
    }
}
