import AppMigrationsSQLite
import Testing

@Suite(.temporaryDirectory, .serialized) struct StagedProcessTests {
    let folder = TemporaryDirectory.current.path

    private static let ways = [("delete", "keep"), ("wal", "keep"), ("delete", "open"), ("wal", "open")]

    @Test(arguments: ways)
    func `two processes that write all the while lose no committed row`(
        journal: String,
        connection: String
    ) throws {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, journal).finish().status == 0)
        let writers = try ["a", "b"].map { try Starter("store", "write", path, $0, connection) }
        for writer in writers { try writer.waitForLine() }
        let stager = try Starter("store", "stage", path, "bak").finish()
        #expect(stager.lines.last == "replaced", "\(stager.lines)")
        let counts = try writers.map { try $0.finish() }
        let db = try SQLiteConnection(path: path)
        for (worker, result) in zip(["a", "b"], counts) {
            #expect(result.status == 0, "\(result.lines)")
            let rows = try db.query(
                "SELECT count(*), count(DISTINCT n) FROM log WHERE worker = ?",
                [.text(worker)]
            )
            guard case .integer(let count) = rows[0][0] else { continue }
            #expect(rows[0][0] == rows[0][1])
            #expect(result.lines.last == "wrote \(count)", "\(worker)")
        }
        // All rows of the time before are in the new shape, none of those after.
        #expect(try db.query("SELECT count(*) >= 20 FROM log WHERE seen IS NULL") == [[1]])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        db.close()
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `eight starters at once replace the store once`(journal: String) throws {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, journal).finish().status == 0)
        let results = try (0..<8).map { _ in try Starter("store", "stage", path, "bak") }
            .map { try $0.finish() }
        #expect(results.map(\.status) == Array(repeating: 0, count: 8), "\(results)")
        #expect(results.filter { $0.lines == ["migrating", "replaced"] }.count == 1)
        #expect(results.filter { $0.lines == ["unchanged"] }.count == 7)
        #expect(try Starter("store", "whole", path, "bak").finish().lines.last == "whole new")
    }

    @Test func `eight starters at once set a damaged store aside once`() throws {
        let path = folder + "/store"
        for ending in ["", "-wal"] { try write("damage", to: path + ending) }
        let results = try (0..<8).map { _ in try Starter("store", "recover", path) }.map { try $0.finish() }
        #expect(results.map(\.status) == Array(repeating: 0, count: 8), "\(results)")
        #expect(results.flatMap(\.lines).count == 1, "\(results)")
        #expect(try Starter("store", "recovered", path).finish().lines.last == "whole recovered")
    }
}
