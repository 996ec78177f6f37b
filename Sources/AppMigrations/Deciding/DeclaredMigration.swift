/// The versions of a declaration.
package struct DeclaredMigration: Sendable {
    package let version: AppVersion

    /// The first release of the main line that has this migration, if a hotfix of an older line brought it.
    package let addedIn: AppVersion?

    /// The oldest version of the app that can use the data after the migration; zero if every version can.
    package let minimumAppVersion: AppVersion

    package init(
        version: AppVersion,
        addedIn: AppVersion? = nil,
        minimumAppVersion: AppVersion = .zero
    ) {
        self.version = version
        self.addedIn = addedIn
        self.minimumAppVersion = minimumAppVersion
    }

    /// True if this migration has run, or counts as having run.
    ///
    /// Call this only for a version that isn't above the last-run version. Without `addedIn:`, it always
    /// counts as having run. With `addedIn:`, it has run if the release that created or last reset the data
    /// has it (``isInBaseline(_:)``), or if ``AppliedVersions/hasRun(_:)`` says so.
    ///
    /// `applied` is needed only with `addedIn:`, and is `nil` if the baseline alone decides.
    package func hasRun(_ applied: AppliedVersions?) -> Bool {
        guard addedIn != nil, let applied else { return true }
        return isInBaseline(applied.versions.baseline) || applied.hasRun(version)
    }

    /// True if the app version that made the data has this migration.
    ///
    /// The release ``addedIn`` and all later ones have it. So has the hotfix itself, and so have the later
    /// releases of its line: with 1.4.1 and `addedIn: "1.5.1"`, 1.4.2 has it and 1.5 doesn't. The line is
    /// told by the components of the version before the last one. Where ``addedIn`` begins with them too, as
    /// with 2.1 and `addedIn: "2.3"`, they tell nothing.
    func isInBaseline(_ baseline: AppVersion) -> Bool {
        guard let addedIn, baseline < addedIn else { return true }
        if baseline <= version { return baseline == version }
        return baseline.isOnLine(of: version) && !addedIn.isOnLine(of: version)
    }
}
