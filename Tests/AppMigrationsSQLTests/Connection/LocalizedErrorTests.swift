// Foundation's protocol is adopted on Apple's systems only.
#if canImport(Darwin)
import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct LocalizedErrorTests {
    @Test func `an alert that shows localizedDescription says what the error says`() throws {
        let invalid = #expect(throws: MigrationError.self) { try AppVersion(parsing: "v1") }
        #expect(try #require(invalid).localizedDescription == "\(try #require(invalid))")
        let missing = #expect(throws: SQLError.self) { try SQLMigration.files(in: "/nowhere") }
        #expect(try #require(missing).localizedDescription == "\(try #require(missing))")
    }
}
#endif
