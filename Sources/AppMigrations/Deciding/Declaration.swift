/// A migration as the app declares it: the parameters of every `whenMigrating`, but for its closure.
///
/// It serves the core, the SQL modules, the fleet and the product for old libraries alike.
package struct Declaration {
    let toVersion: String
    let addedIn: String?
    let minimumAppVersion: String?
    let reasonNotToRun: ReasonNotToRun?

    /// Returns the reason why a pending migration doesn't have to run; `nil` if it has to run.
    ///
    /// It is called while the lock is held, and may write, for example to the user defaults. If it returns a
    /// text, the migration is recorded without an attempt, and the text is the note of the event `finished`.
    package typealias ReasonNotToRun = (_ pending: PendingMigration) throws -> String?

    /// The pending migration for which a ``ReasonNotToRun`` is asked, and the version of the data before it.
    package struct PendingMigration {
        package let version: AppVersion
        package let previousVersion: AppVersion
    }

    package init(
        _ toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        unless reasonNotToRun: ReasonNotToRun? = nil
    ) {
        self.toVersion = toVersion
        self.addedIn = addedIn
        self.minimumAppVersion = minimumAppVersion
        self.reasonNotToRun = reasonNotToRun
    }

    /// True if the version alone decides, so that a declaration of a version that has run can return at once.
    package var isDecidedByVersion: Bool { addedIn == nil && minimumAppVersion == nil }

    /// The version; `nil` if the text isn't one.
    package var version: AppVersion? { AppVersion(toVersion) }

    /// Reads the versions.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    func read(in location: StateLocation) throws(MigrationError) -> DeclaredMigration {
        let version = try AppVersion(toVersion) { problem in
            location.error(
                .invalidVersion,
                "\(problem) It is declared in \(location).",
                advice: VersionReader.grammar
            )
        }
        func read(_ text: String?, _ parameter: Message) throws(MigrationError) -> AppVersion? {
            guard let text else { return nil }
            return try AppVersion(text) { problem in
                location.error(
                    .invalidVersion,
                    version: version,
                    "\(problem) It is the \(parameter) of migration \(version) in \(location).",
                    advice: VersionReader.grammar
                )
            }
        }
        return DeclaredMigration(
            version: version,
            addedIn: try read(addedIn, "addedIn:"),
            minimumAppVersion: try read(minimumAppVersion, "minimumAppVersion:") ?? .zero
        )
    }
}

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
    /// Call this only for a version that isn't above the last-run version. Without `addedIn:`, it then always
    /// counts as having run, and `applied` isn't needed. It is `nil` too where the baseline alone decides. These
    /// are the rules with `addedIn:`:
    /// - It has run if the release that created or last reset the data has it (``isInBaseline(_:)``).
    /// - It hasn't run if it still has an attempt in the state: attempts are removed when it is recorded.
    /// - It has run if it is in the history, or isn't above ``AppliedVersions/dropped``, because its row may
    ///   have been dropped from the history.
    package func hasRun(_ applied: AppliedVersions?) -> Bool {
        guard addedIn != nil, let applied else { return true }
        if isInBaseline(applied.versions.baseline) { return true }
        if applied.versions.attempts(at: version) != nil { return false }
        return version <= applied.dropped || applied.recorded.contains(version)
    }

    /// True if the app version that made the data has this migration.
    ///
    /// The release ``addedIn`` and all later ones have it. So has the hotfix itself, and so have the later
    /// releases of its line: with 1.4.1 and `addedIn: "1.5.1"`, 1.4.2 has it and 1.5 doesn't. The line is told
    /// by the components of the version before the last one. Where ``addedIn`` begins with them too, as with
    /// 2.1 and `addedIn: "2.3"`, they tell nothing.
    func isInBaseline(_ baseline: AppVersion) -> Bool {
        guard let addedIn, baseline < addedIn else { return true }
        if baseline <= version { return baseline == version }
        return baseline.isOnLine(of: version) && !addedIn.isOnLine(of: version)
    }
}
