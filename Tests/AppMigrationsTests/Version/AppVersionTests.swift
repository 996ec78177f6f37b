import AppMigrations
import Foundation
import Testing

struct AppVersionTests {
    @Test(
        arguments: [
            ("v2.1.0", "2.1.0"), ("V2", "2"), (" 2.1", "2.1"), ("2.0.0-beta.2", "2.0.0"), ("2.0b2", "2.0"),
            ("1.0rc2", "1.0"),
            ("49~rc", nil), ("49.0~rc", "49.0"), ("1.9a", "1.9"), ("2.1+5", "2.1"), ("14.2 (27320)", "14.2"),
            ("2.1-5", "2.1"),
            ("v2.1.0-5-g1a2b3c4", "2.1.0"), ("2026-11-28", "2026.11.28"), ("2022-11-17-1", "2022.11.17"),
            ("2024.01", "2024.1"),
            ("3.01", "3.1"), ("2.0.3.9.6", "2.0.3.9.6"), ("2.1.", "2.1"), ("1234567", nil), ("1a2b3c4", nil),
            ("", nil), ("v", nil),
            ("latest", nil), (".1", nil), ("1..2", nil), ("18446744073709551616.0", nil),
        ] as [(String, String?)]
    )
    func `the release is read from the text of a store or a tag`(text: String, release: String?) throws {
        guard let release else {
            let error = #expect(throws: MigrationError.self) { try AppVersion(releaseOf: text) }
            #expect(error?.code == .invalidVersion)
            #expect(
                error?.description.contains("The text \"\(text)\" doesn't begin with a release, such as 2.1.")
                    == true
            )
            return
        }
        #expect(try AppVersion(releaseOf: text).description == release)
    }

    private static let grammar =
        "A version consists of numbers separated by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2. A beta has the"
        + " version of its release; what changes between two betas is 2.0-1, 2.0-2."

    @Test(arguments: [
        ("2", "2"), ("0", "0"), ("0.0", "0.0"), ("2.0.3.9.6", "2.0.3.9.6"), ("1.0.0", "1.0.0"),
        ("2024.01", "2024.1"),
        ("007", "7"), ("00.00", "0.0"), ("1.1-2", "1.1-2"), ("1.1-0", "1.1-0"), ("1.0-0", "1.0-0"),
        ("0-0", "0-0"),
        ("1.1-010", "1.1-10"), ("239.240.241.255.256", "239.240.241.255.256"),
        ("18446744073709551615-18446744073709551615", "18446744073709551615-18446744073709551615"),
        ("0000000000000000000000018446744073709551615", "18446744073709551615"),
        ("1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.0-3", "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.0-3"),
    ])
    func `a version gives back the text as written, without leading zeros`(text: String, expected: String)
        throws
    {
        let version = try AppVersion(parsing: text)
        #expect(version.description == expected)
        #expect(AppVersion(text) == version)
        #expect(AppVersion(expected) == version)
    }

    @Test(arguments: [
        ("", "it is empty"),
        (" 1.0", "a digit is missing at character 1"),
        ("v1.0", "a digit is missing at character 1"),
        (".1", "a digit is missing at character 1"),
        ("-1", "a digit is missing at character 1"),
        ("１.０", "a digit is missing at character 1"),
        ("1.", "a digit is missing at character 3"),
        ("1..2", "a digit is missing at character 3"),
        ("1.0-", "a digit is missing at character 5"),
        ("1.0-beta", "a digit is missing at character 5"),
        ("1.0--1", "a digit is missing at character 5"),
        ("1.0 ", "character 4 is not allowed there"),
        ("1.0\n", "character 4 is not allowed there"),
        ("1.0+5", "character 4 is not allowed there"),
        ("1\u{0}", "character 2 is not allowed there"),
        // The neighbours of the digits.
        ("1:2", "character 2 is not allowed there"),
        ("1/2", "character 2 is not allowed there"),
        (":2", "a digit is missing at character 1"),
        ("1.0b2", "character 4 is not allowed there"),
        ("1.1-2.3", "character 6 is not allowed there"),
        ("1-2-3", "character 4 is a second hyphen, and a version has at most one"),
        ("1.18446744073709551616", "the number at character 3 is greater than 18446744073709551615"),
        ("1-99999999999999999999", "the number at character 3 is greater than 18446744073709551615"),
        ("111111111111111111111111", "the number at character 1 is greater than 18446744073709551615"),
    ])
    func `a refused version says what is wrong, where, and what the grammar is`(text: String, reason: String)
        throws
    {
        let error = try #require(throws: MigrationError.self) { try AppVersion(parsing: text) }
        let shown = text.replacingOccurrences(of: "\n", with: "\\n").replacingOccurrences(
            of: "\0",
            with: "\\u0000"
        )
        #expect(error.description == "The version \"\(shown)\" can't be read: \(reason). \(Self.grammar)")
        #expect(error.code == .invalidVersion)
        #expect(error.managerName == nil)
        #expect(AppVersion(text) == nil)
    }

    @Test func `a sub-migration comes after its version and before the next`() throws {
        let ordered = [
            "0", "0-0", "0-1", "0.0.1", "0.1", "0.9", "0.10", "1", "1.0-0", "1.0-1", "1.1", "1.1-0", "1.1-1",
            "1.1-10",
            "1.1.0.1", "1.1.1", "1.239", "1.240", "1.255", "1.256", "1.65535", "1.65536",
            "1.18446744073709551615",
            "1.18446744073709551615-1", "2", "2.0.3.9.6", "10", "240", "2024.1", "2024.1.1",
        ]
        let versions = try ordered.map { try AppVersion(parsing: $0) }
        for (left, leftVersion) in versions.enumerated() {
            for (right, rightVersion) in versions.enumerated() {
                #expect((leftVersion < rightVersion) == (left < right), "\(leftVersion) < \(rightVersion)")
                #expect((leftVersion == rightVersion) == (left == right), "\(leftVersion) == \(rightVersion)")
            }
        }
    }

    @Test(arguments: [
        ["1", "1.0", "1.0.0", "01.00"], ["1.1-3", "1.1.0-3", "1.01.0.0-03"], ["0", "0.0", "0.0.0"],
        ["0-0", "0.0-00"],
    ])
    func `missing components count as zero, and equal versions have equal hashes`(texts: [String]) throws {
        #expect(Set(try texts.map { try AppVersion(parsing: $0) }).count == 1)
    }

    @Test func `a thousand components are one version`() throws {
        let numbers = (1...1_000).map { "\($0)" }
        let version = try AppVersion(parsing: numbers.joined(separator: "."))
        let next = try AppVersion(parsing: (numbers.dropLast() + ["1001"]).joined(separator: "."))
        let padded = try AppVersion(
            parsing: (numbers + Array(repeating: "0", count: 1_000)).joined(separator: ".")
        )
        let sub = try AppVersion(parsing: numbers.joined(separator: ".") + "-1")
        #expect(version.description == numbers.joined(separator: "."))
        #expect(version < sub)
        #expect(sub < next)
        #expect(padded == version)
        #expect(padded.hashValue == version.hashValue)
        #expect(padded.description.hasSuffix(".1000" + String(repeating: ".0", count: 1_000)))
    }

    @Test func `a substring can be read`() throws {
        let text = "app-1.4-2.json"
        #expect(try AppVersion(parsing: text.dropFirst(4).dropLast(5)).description == "1.4-2")
    }

    @Test func `a version is coded as one string`() throws {
        let versions = ["1.0.0", "1.1-2", "2024.1"].compactMap(AppVersion.init)
        let data = try JSONEncoder().encode(versions)
        #expect(String(decoding: data, as: UTF8.self) == #"["1.0.0","1.1-2","2024.1"]"#)
        let decoded = try JSONDecoder().decode([AppVersion].self, from: data)
        #expect(decoded == versions)
        #expect(decoded.map(\.description) == ["1.0.0", "1.1-2", "2024.1"])
    }

    @Test func `decoding a version that can't be read says why and where`() throws {
        let error = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode([AppVersion].self, from: Data(#"["1.0", "1.x"]"#.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(error)")
            return
        }
        let text = "The version \"1.x\" can't be read: a digit is missing at character 3. \(Self.grammar)"
        #expect(context.debugDescription == text)
        #expect(context.codingPath.map(\.intValue) == [1])
    }
}
