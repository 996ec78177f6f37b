import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct RowValueTests {
    enum State: String, Codable { case draft, sent }

    /// One property of every kind, all of them also missing.
    struct Everything: Codable, Equatable, Sendable {
        var bool: Bool?
        var int: Int?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var uint: UInt?
        var uint8: UInt8?
        var uint16: UInt16?
        var uint32: UInt32?
        var uint64: UInt64?
        var double: Double?
        var float: Float?
        var text: String?
        var data: Data?
        var bytes: [UInt8]?
        var slice: ContiguousArray<UInt8>?
        var date: Date?
        var uuid: UUID?
        var state: State?
    }

    static let uuid = "7F1C2B6A-0A43-4B64-9B0D-3D1A6E2F8C55"
    static let everything: [(Everything, [SQLValue])] = [
        (Everything(), Array(repeating: nil, count: 20)),
        (
            Everything(
                bool: true,
                int: .min,
                int8: -128,
                int16: -1,
                int32: .max,
                int64: 0,
                uint: 1,
                uint8: 255,
                uint16: 2,
                uint32: .max,
                uint64: UInt64(Int64.max),
                double: 0.1,
                float: 0.1,
                text: "a\u{0}é",
                data: Data([0, 255]),
                bytes: [1, 2],
                slice: [3],
                date: Date(timeIntervalSince1970: 1_700_000_000.5),
                uuid: UUID(uuidString: uuid),
                state: .sent
            ),
            [
                1, .integer(.min), -128, -1, 2_147_483_647, 0, 1, 255, 2, 4_294_967_295, .integer(.max), 0.1,
                .real(Double(0.1 as Float)), "a\u{0}é", .blob([0, 255]),
                .blob([1, 2]), .blob([3]), 1_700_000_000.5, .text(uuid), "sent",
            ]
        ),
        (
            Everything(
                bool: false,
                double: -.infinity,
                text: "",
                data: Data(),
                bytes: [],
                slice: [],
                date: Date(timeIntervalSince1970: -1e10)
            ),
            [0] + Array(repeating: nil, count: 10) + [
                .real(-.infinity), nil, "", .blob([]), .blob([]), .blob([]), -1e10, nil, nil,
            ]
        ),
    ]

    @Test(arguments: everything) func `values are kept as documented, and come back`(
        value: Everything,
        stored: [SQLValue]
    ) throws {
        let names = [
            "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
            "double",
            "float", "text", "data", "bytes", "slice", "date", "uuid", "state",
        ]
        let db = try database("CREATE TABLE t(\(names.map { "\($0) DEFAULT 7" }.joined(separator: ", ")))")
        try db.insert([value], into: "t")
        #expect(try db.query("SELECT * FROM t") == [stored])
        #expect(try db.fetch(Everything.self, "SELECT * FROM t") == [value])
    }

    @Test(
        arguments: [
            ("'1970-01-01'", 0), ("'2000-02-29'", 951_782_400), ("'2023-11-14 22:13'", 1_699_999_980),
            ("'2023-11-14 22:13:20.5'", 1_700_000_000.5), ("'2023-11-14T22:13:20Z'", 1_700_000_000),
            ("'2023-11-15T00:13:20+02:00'", 1_700_000_000), ("'2023-11-14 16:43:20-05:30'", 1_700_000_000),
            ("'1969-12-31 23:59:59'", -1), ("'0000-03-01'", -62_162_035_200),
            ("'9999-12-31 23:59:59'", 253_402_300_799), ("1700000000", 1_700_000_000), ("-0.5", -0.5),
        ] as [(String, Double)]
    )
    func `a date is seconds since 1970, or one of SQLite's texts`(sql: String, seconds: Double) throws {
        let dates = try memory().fetch(Date.self, "SELECT \(sql)")
        #expect(dates == [Date(timeIntervalSince1970: seconds)])
    }

    @Test(
        arguments: [
            "", "2023", "2023-1-1", "2023-13-01", "2023-00-01", "2023-02-29", "1900-02-29", "2023-04-31",
            "2023-01-00",
            "2023-01-01 ", "2023-01-01 24:00", "2023-01-01 10:60", "2023-01-01 10:10:60",
            "2023-01-01 10:10:10.",
            "2023-01-01 10:10:10.x", "2023-01-01T10:10+2:00", "2023-01-01T10:10+15:00", "2023-01-01T10:10ZZ",
            "２０２３-01-01", "2023/01/01", "2023-01-01x10:10", "now",
        ]
    )
    func `a text that is no date is refused`(text: String) throws {
        #expect(
            try sqlError { try memory().fetch(Date.self, "SELECT ?", [.text(text)]) }.code == .unreadableRow
        )
    }

    @Test func `a UUID is also read from its 16 bytes`() throws {
        let sql =
            "SELECT x'7F1C2B6A0A434B649B0D3D1A6E2F0C55' UNION ALL SELECT '7f1c2b6a-0a43-4b64-9b0d-3d1a6e2f0c55'"
        let uuid = try #require(UUID(uuidString: "7F1C2B6A-0A43-4B64-9B0D-3D1A6E2F0C55"))
        #expect(try memory().fetch(UUID.self, sql) == [uuid, uuid])
    }
}
