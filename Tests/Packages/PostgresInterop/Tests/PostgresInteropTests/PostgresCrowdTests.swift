import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

@Suite struct PostgresCrowdTests {
    @Test func `32 processes that start at once all succeed, and each migration runs once`() throws {
        try withDatabase { info in
            let starters = try (0..<32).map { _ in try start(info, "20") }
            var lines = [String]()
            for (process, output) in starters {
                let data = try output.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                lines += String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
                #expect(process.terminationStatus == 0, "\(String(decoding: data, as: UTF8.self))")
            }
            #expect(lines.sorted() == (1...20).map { "applied \($0)" }.sorted())
            let db = try PostgresConnection(info)
            #expect(try db.query("SELECT x FROM log") == (1...20).map { [.integer($0)] })
        }
    }
}
