import AppMigrationsSQLite
import Testing

@Suite struct SQLiteConnectionTests {
    @Test func `a query returns rows`() throws {
        let db = try SQLiteConnection(path: ":memory:")
        #expect(try db.query("SELECT 1, 'a', NULL, 1.5, x'01'") == [[1, "a", nil, 1.5, .blob([1])]])
    }
}
