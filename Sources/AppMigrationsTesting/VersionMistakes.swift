import AppMigrations

/// Checks the declared versions, without running a migration.
struct VersionMistakes {
    let declared: [AppVersion]
    /// The versions that are declared with `addedIn:`: they run even if a later migration has run.
    var addedLater: Set<AppVersion> = []
    let current: AppVersion

    /// Mistakes for which every manager would refuse the declarations.
    var declarationMistakes: [RehearsalFinding] {
        var findings: [RehearsalFinding] = []
        func add(_ kind: RehearsalFinding.Kind, _ version: AppVersion, fact: String, advice: String) {
            let text =
                "Migration \(version) is \(fact). Every start of the app would fail at this declaration. \(advice)"
            findings.append(RehearsalFinding(kind, version: version, text))
        }
        for (index, version) in declared.enumerated() {
            let earlier = declared[..<index]
            if let same = earlier.first(where: { $0 == version }) {
                let isSpelledAlike = same.description == version.description
                let fact =
                    isSpelledAlike ? "declared twice" : "the same version as \(same), which is also declared"
                add(.declaredTwice, version, fact: fact, advice: "Declare each version once.")
            } else if let newer = earlier.max(), newer > version {
                let advice = "Declare the versions in ascending order."
                add(.outOfOrder, version, fact: "declared after \(newer)", advice: advice)
            }
        }
        if let newest = declared.max(), newest.exceeds(current) {
            let fact = "newer than the app (\(current))"
            let advice = "Raise the app's version or remove the migration."
            add(.newerThanCurrentVersion, newest, fact: fact, advice: advice)
        }
        return findings
    }

    /// Differences from the versions that earlier rehearsals recorded.
    ///
    /// Versions up to `oldest` may be missing, because the manager refuses older data.
    func changes(since record: VersionRecord, upgradesFrom oldest: AppVersion?) -> [RehearsalFinding] {
        let gone = record.versions.filter { version in
            !declared.contains(version) && oldest.map { version > $0 } ?? true
        }
        let disappeared = gone.map { version in
            let text =
                "Migration \(version) was declared in an earlier rehearsal and is missing now. Users with older data "
                + "would skip it. Restore it, or pass \(version) or a later version as upgradesFrom:. If it was never "
                + "released, delete its line in \(record.path) instead."
            return RehearsalFinding(.disappeared, version: version, text)
        }
        guard let newest = record.versions.max() else { return disappeared }
        let new = declared.filter { $0 < newest && !record.versions.contains($0) }
        let missed = new.filter { !addedLater.contains($0) }.map { version in
            let text =
                "Migration \(version) is new, but lower than \(newest), which an earlier rehearsal recorded. Users who "
                + "have \(newest) will never run it. Give it a version above \(newest), or declare it with addedIn: and the "
                + "first release that has it. If \(newest) was never released, delete its line in \(record.path) instead."
            return RehearsalFinding(.missed, version: version, text)
        }
        return disappeared + missed
    }
}
