import AppMigrations

/// Checks the declared versions, without running a migration.
struct VersionMistakes {
    let declared: [AppVersion]
    /// The versions that also run below the last-run version.
    var outOfOrder: Set<AppVersion> = []
    let current: AppVersion

    /// Mistakes because of which every manager would refuse the declarations.
    var found: [RehearsalFinding] {
        var findings: [RehearsalFinding] = []
        func add(_ kind: RehearsalFinding.Kind, _ version: AppVersion, _ fact: String, _ way: String) {
            let text = "Migration \(version) is \(fact). Every start throws there. \(way)"
            findings.append(RehearsalFinding(kind, version: version, text))
        }
        for (index, version) in declared.enumerated() {
            let earlier = declared[..<index]
            if let same = earlier.first(where: { $0 == version }) {
                let isSpelledAlike = same.description == version.description
                let fact = isSpelledAlike ? "twice" : "next to \(same), which is the same version"
                add(.declaredTwice, version, "declared \(fact)", "Declare each version once.")
            } else if let newer = earlier.max(), newer > version {
                add(.outOfOrder, version, "declared after \(newer)", "Declare the versions in rising order.")
            }
        }
        if let newest = declared.max(), newest.exceeds(current) {
            let way = "Raise the app's version or remove the migration."
            add(.newerThanCurrentVersion, newest, "newer than the app (\(current))", way)
        }
        return findings
    }

    /// Differences from the versions that earlier rehearsals recorded.
    ///
    /// A version up to `oldest` may be missing: the manager itself refuses the data of users below it.
    func changes(since record: VersionRecord, upgradesFrom oldest: AppVersion?) -> [RehearsalFinding] {
        let gone = record.versions.filter { version in
            !declared.contains(version) && oldest.map { version > $0 } ?? true
        }
        let disappeared = gone.map { version in
            let text =
                "Migration \(version) was declared in an earlier rehearsal, and is missing now: users below it would "
                + "skip it. Put it back, pass upgradesFrom: with a version from it on, or delete its line in the record if it was "
                + "never released."
            return RehearsalFinding(.disappeared, version: version, text)
        }
        guard let newest = record.versions.max() else { return disappeared }
        let new = declared.filter { $0 < newest && !record.versions.contains($0) }
        let missed = new.filter { !outOfOrder.contains($0) }.map { version in
            let text =
                "Migration \(version) is new and lies below \(newest), which an earlier rehearsal knew: users at "
                + "\(newest) never run it. Give it a version after \(newest), declare it with outOfOrder: true, or delete "
                + "the record's line of \(newest) if that was never released."
            return RehearsalFinding(.missed, version: version, text)
        }
        return disappeared + missed
    }
}
