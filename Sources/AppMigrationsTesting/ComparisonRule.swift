/// Allows certain differences between the data of two runs, in files whose path matches a pattern.
///
/// A pattern is a path inside the data folder. In it, `*` matches any characters except `/`, and `**` matches
/// any characters: `Notes/*.txt`, `**.sqlite-wal`. A rule that matches a folder also applies to everything in
/// it.
///
/// If several rules match a path, the first one in the array applies, and the others don't. So put the rule
/// for a single file before the rule for its folder.
///
/// The library's own files, such as `Library.migrations.json`, are never compared. You need no rule for them.
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

    /// Files that `difference` compares.
    ///
    /// It gets the paths of the expected file and of the actual file, and returns `nil` if the files are
    /// equal. Otherwise it returns the end of a sentence, such as `has 3 notes and not 4`. The report puts
    /// the file's path before it. Use this rule to compare databases by their contents.
    public static func comparing(
        _ pattern: String,
        by difference: @escaping @Sendable (_ expected: String, _ found: String) throws -> String?
    ) -> ComparisonRule {
        ComparisonRule(pattern: PathPattern(pattern), action: .compare(difference))
    }
}
