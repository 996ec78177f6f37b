import AppMigrations
import Foundation

/// Compares two folders file by file.
///
/// Only the contents count, not dates, modes or owners. The state files of managers are left out, whatever
/// the rules are: an app usually keeps its state in the folder of its data, so a fixture contains it.
struct FolderComparison: Sendable {
    let rules: [ComparisonRule]

    struct Difference: Equatable {
        let path: String
        /// A clause that names the path and the difference, such as "`a.txt` is missing".
        let text: String
    }

    func differences(of found: String, from expected: String) throws -> [Difference] {
        let foundItems = try ComparedItems(in: found)
        let expectedItems = try ComparedItems(in: expected)
        let foundEntries = foundItems.entries(comparedWith: expectedItems)
        let expectedEntries = expectedItems.entries(comparedWith: foundItems)
        let paths = Set(foundEntries.keys).union(expectedEntries.keys)
        return try paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { path in
            let rule = rules.first { $0.pattern.matches(path) }
            if case .ignore = rule?.action { return nil }
            let text: String? =
                switch (expectedEntries[path], foundEntries[path]) {
                case (nil, _): "\(path.quoted) exists, but shouldn't"
                case (_, nil): "\(path.quoted) is missing"
                case (.some(.file), .some(.file)):
                    try difference(
                        in: path,
                        expected: expected + "/" + path,
                        found: found + "/" + path,
                        action: rule?.action
                    )
                case (.some(let expectedEntry), .some(let foundEntry)):
                    expectedEntry == foundEntry
                        ? nil : "\(path.quoted) is \(foundEntry) instead of \(expectedEntry)"
                }
            return text.map { Difference(path: path, text: $0) }
        }
    }

    private func difference(
        in path: String,
        expected: String,
        found: String,
        action: ComparisonRule.Action?
    ) throws -> String? {
        if case .compare(let difference) = action {
            return try difference(expected, found).map { "\(path.quoted) \($0)" }
        }
        var expectedBytes = try FolderFiles.read(expected)
        var foundBytes = try FolderFiles.read(found)
        if case .normalize(let transform) = action {
            expectedBytes = try transform(expectedBytes)
            foundBytes = try transform(foundBytes)
        }
        if expectedBytes == foundBytes { return nil }
        guard let expectedLines = Self.lines(expectedBytes), let foundLines = Self.lines(foundBytes) else {
            return Self.byteDifference(in: path, expected: expectedBytes, found: foundBytes)
        }
        let index = zip(expectedLines, foundLines).prefix { $0 == $1 }.count
        if index == foundLines.count, index == expectedLines.count {
            return "\(path.quoted) differs only in the line break at its end"
        }
        let place = "line \(index + 1) of \(path.quoted)"
        if index == foundLines.count { return "\(place) is missing: \(Self.shown(expectedLines[index]))" }
        if index == expectedLines.count {
            return "\(place) should not be there: \(Self.shown(foundLines[index]))"
        }
        return "\(place) is \(Self.shown(foundLines[index])) instead of \(Self.shown(expectedLines[index]))"
    }

    private static func byteDifference(in path: String, expected: [UInt8], found: [UInt8]) -> String {
        let index = zip(expected, found).prefix { $0 == $1 }.count
        let isAsLong = expected.count == found.count
        let sizes = isAsLong ? "" : ", and has \(found.count) bytes instead of \(expected.count)"
        return "\(path.quoted) differs from byte \(index + 1) on\(sizes)"
    }

    /// The lines of a text file; `nil` if the file isn't UTF-8 text.
    ///
    /// The lines are bytes and not strings, because strings are equal even if they encode an accent
    /// differently.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        guard !bytes.contains(0), String(validUTF8: bytes) != nil else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.last?.isEmpty == true ? lines.dropLast() : lines
    }

    private static func shown(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line, as: UTF8.self)
        return (text.count > 80 ? text.prefix(80) + "…" : text[...]).debugDescription
    }
}

extension String {
    /// The text in backticks, with its line breaks as `\n`.
    ///
    /// A line break in the name of a file would break the lines of the report.
    fileprivate var quoted: String { "`\(replacing("\n", with: "\\n"))`" }
}
