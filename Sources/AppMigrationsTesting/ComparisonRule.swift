/// A difference that is allowed between two ends of a rehearsal, for the paths that a pattern matches.
///
/// A pattern is a path inside the data folder, where `*` stands for any characters but `/`, and `**` for any at all:
/// `Notes/*.txt`, `**.sqlite-wal`. A rule that matches a folder holds for everything in it.
public struct ComparisonRule: Sendable {
    enum Action: Sendable {
        case ignore
        case normalize(@Sendable ([UInt8]) throws -> [UInt8])
        case compare(@Sendable (_ expected: String, _ found: String) throws -> String?)
    }

    let pattern: PathPattern
    let action: Action

    /// Files and folders that may differ or be missing, such as caches and logs.
    public static func ignoring(_ pattern: String) -> ComparisonRule {
        ComparisonRule(pattern: PathPattern(pattern), action: .ignore)
    }

    /// Files that are compared after `transform` took out what may differ, such as dates and identifiers.
    public static func normalizing(
        _ pattern: String,
        by transform: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> ComparisonRule {
        ComparisonRule(pattern: PathPattern(pattern), action: .normalize(transform))
    }

    /// Files that `difference` compares, given the paths of the file expected and of the one found.
    ///
    /// It gives `nil` where they are equal. Otherwise it gives the rest of a sentence that begins with the file's path:
    /// `has 3 rows of notes and not 4`. Use it to compare databases by what they hold.
    public static func comparing(
        _ pattern: String,
        by difference: @escaping @Sendable (_ expected: String, _ found: String) throws -> String?
    ) -> ComparisonRule {
        ComparisonRule(pattern: PathPattern(pattern), action: .compare(difference))
    }
}

/// A path with `*` and `**` in it.
struct PathPattern: Sendable {
    private let text: [UInt8]

    init(_ text: String) { self.text = Array(text.utf8) }

    /// True if it matches the path or a folder above it.
    func matches(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") } + [bytes.count]
        return ends.contains { Self.matches(text[...], bytes[..<$0]) }
    }

    private static func matches(_ pattern: ArraySlice<UInt8>, _ path: ArraySlice<UInt8>) -> Bool {
        let star = UInt8(ascii: "*")
        guard let first = pattern.first else { return path.isEmpty }
        guard first == star else {
            return path.first == first && matches(pattern.dropFirst(), path.dropFirst())
        }
        let isDeep = pattern.dropFirst().first == star
        let rest = pattern.dropFirst(isDeep ? 2 : 1)
        var tail = path
        while true {
            if matches(rest, tail) { return true }
            guard let next = tail.popFirst(), isDeep || next != UInt8(ascii: "/") else { return false }
        }
    }
}
