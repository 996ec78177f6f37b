/// The names of the files in which this library keeps its own data, in the state directory of any manager.
///
/// They aren't the app's data: a lock file contains the identifier of a process, and a state contains dates.
enum StateFileName {
    /// True if the last component of `path`, or the name of a folder in it, is such a name.
    static func isInPath(_ path: String) -> Bool {
        path.split(separator: "/").contains(where: matches)
    }

    /// True if `name` is the name of a state, a lock, or a state that was moved aside.
    ///
    /// For the manager `Library` these are `Library.migrations.json`, `Library.migrations.lock`, and names
    /// that begin with `Library.migrations.forgotten-`.
    static func matches(_ name: Substring) -> Bool {
        // Use the last occurrence, because a manager's name may contain the same text.
        guard let separator = name.ranges(of: ".migrations.").last else { return false }
        let manager = name[..<separator.lowerBound]
        let kind = name[separator.upperBound...]
        if manager.isEmpty { return false }
        // A state that is being saved has the suffix `.tmp`.
        return ["json", "json.tmp", "lock"].contains(kind) || kind.hasPrefix("forgotten-")
    }
}
