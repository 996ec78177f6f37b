import AppMigrations
import Foundation

/// Compares two folders file by file.
///
/// Only the contents count, not dates, modes or owners.
struct FolderComparison: Sendable {
    let rules: [ComparisonRule]

    struct Difference: Equatable {
        let path: String
        /// The difference, as the part of a sentence that names the path.
        let text: String
    }

    func differences(of found: String, from expected: String) throws -> [Difference] {
        let foundEntries = try FolderFiles.entries(in: found)
        let expectedEntries = try FolderFiles.entries(in: expected)
        let paths = Set(foundEntries.keys).union(expectedEntries.keys)
        return try paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { path in
            let rule = rules.first { $0.pattern.matches(path) }
            if case .ignore = rule?.action { return nil }
            let text: String? =
                switch (expectedEntries[path], foundEntries[path]) {
                case (nil, _): "\(path.quoted) is there and should not be"
                case (_, nil): "\(path.quoted) is missing"
                case (.some(.file), .some(.file)):
                    try difference(
                        in: path,
                        expected: expected + "/" + path,
                        found: found + "/" + path,
                        action: rule?.action
                    )
                case (.some(let wanted), .some(let entry)):
                    wanted == entry ? nil : "\(path.quoted) is \(entry) and not \(wanted)"
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
        var wanted = try FolderFiles.read(expected)
        var content = try FolderFiles.read(found)
        if case .normalize(let transform) = action {
            wanted = try transform(wanted)
            content = try transform(content)
        }
        if wanted == content { return nil }
        guard let old = Self.lines(wanted), let new = Self.lines(content) else {
            return Self.byteDifference(in: path, expected: wanted, found: content)
        }
        let index = zip(old, new).prefix { $0 == $1 }.count
        if index == new.count, index == old.count {
            return "\(path.quoted) differs only in the line break at its end"
        }
        let place = "line \(index + 1) of \(path.quoted)"
        if index == new.count { return "\(place) is missing: \(Self.shown(old[index]))" }
        if index == old.count { return "\(place) should not be there: \(Self.shown(new[index]))" }
        return "\(place) is \(Self.shown(new[index])) and not \(Self.shown(old[index]))"
    }

    private static func byteDifference(in path: String, expected: [UInt8], found: [UInt8]) -> String {
        let index = zip(expected, found).prefix { $0 == $1 }.count
        let isAsLong = expected.count == found.count
        let sizes = isAsLong ? "" : ", and has \(found.count) bytes instead of \(expected.count)"
        return "\(path.quoted) differs from byte \(index + 1) on\(sizes)"
    }

    /// The lines of a text; `nil` if the bytes are not a text.
    ///
    /// They are bytes, because equal strings may encode an accent differently.
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
    /// The text between backticks.
    ///
    /// A line break in the name of a file would break the table of the report.
    fileprivate var quoted: String { "`\(replacing("\n", with: "\\n"))`" }
}
