/// A difference that is allowed between the data of two runs, for the paths that match a pattern.
///
/// A pattern is a path inside the data folder. In it, `*` matches any characters except `/`, and `**` matches
/// any characters: `Notes/*.txt`, `**.sqlite-wal`. A rule that matches a folder also applies to everything in
/// it.
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

    /// Files that are compared after `transform` has removed the parts that may differ, such as dates and
    /// identifiers.
    public static func normalizing(
        _ pattern: String,
        by transform: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> ComparisonRule {
        ComparisonRule(pattern: PathPattern(pattern), action: .normalize(transform))
    }

    /// Files that `difference` compares, by the paths of the expected file and of the found file.
    ///
    /// It returns `nil` if they are equal. Otherwise it returns the rest of a sentence that begins with the
    /// file's path: `has 3 rows of notes and not 4`. Use it to compare databases by their contents.
    public static func comparing(
        _ pattern: String,
        by difference: @escaping @Sendable (_ expected: String, _ found: String) throws -> String?
    ) -> ComparisonRule {
        ComparisonRule(pattern: PathPattern(pattern), action: .compare(difference))
    }
}
