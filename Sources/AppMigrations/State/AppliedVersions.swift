/// The versions that have run on the data, for a declaration with `addedIn:` and for a plan.
package struct AppliedVersions: Sendable {
    /// The versions of the state from which these were read.
    package let versions: StateVersions

    /// The versions in the history.
    package let recorded: [AppVersion]

    /// The highest version whose row was dropped from the history; zero if none was dropped.
    package let dropped: AppVersion

    /// True if the migration of `version` has run after the state was created or reset.
    ///
    /// Call this only for a version that isn't above the last-run version.
    /// - It hasn't run if it still has an attempt in the state: attempts are removed when it is recorded.
    /// - It has run if it is in the history, or isn't above ``dropped``, because its row may have been
    ///   dropped from the history.
    func hasRun(_ version: AppVersion) -> Bool {
        if versions.attempts(at: version) != nil { return false }
        return version <= dropped || recorded.contains(version)
    }
}
