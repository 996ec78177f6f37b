import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

@Suite struct PostgresCrowdTests {
    @Test func `32 processes that start at once all succeed, and each migration runs once`() throws {
        try withDatabase { info in
            try startCrowd { _ in [info, "20"] }
            let db = try PostgresConnection(info)
            #expect(try db.query("SELECT x FROM log") == (1...20).map { [.integer($0)] })
        }
    }

    @Test func `32 processes that await, half of them through PgBouncer, run each script once`() throws {
        try withDatabase { info in
            let ways = Way.all
            try startCrowd { number in
                let way = ways[number % ways.count]
                return [try way.info(info), "20", "awaited", "\(way.cells)"]
            }
            let db = try PostgresConnection(info)
            #expect(try db.query("SELECT x FROM log") == (1...19).map { [.integer($0)] })
            #expect(
                try db.query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'log_x'::regclass") == [
                    ["t"]
                ]
            )
        }
    }

    /// Starts 32 processes, which have to run the migrations 1 to 20 once in all.
    private func startCrowd(_ arguments: (_ number: Int) throws -> [String]) throws {
        let starters = try (0..<32).map { try start(arguments($0)) }
        var lines = [String]()
        for (process, output) in starters {
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            lines += String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
            #expect(process.terminationStatus == 0, "\(String(decoding: data, as: UTF8.self))")
        }
        #expect(lines.sorted() == (1...20).map { "applied \($0)" }.sorted())
    }
}
