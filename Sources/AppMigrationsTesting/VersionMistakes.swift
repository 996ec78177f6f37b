import AppMigrations

/// The findings about the declared versions alone.
struct VersionMistakes {
    let declared: [AppVersion]
    let current: AppVersion

    /// A mistake that keeps every manager from taking the declarations as they are.
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
                let fact = isSpelledAlike ? "twice" : "beside \(same), which is the same version"
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

    /// A version that an earlier rehearsal wrote down and this one doesn't fit.
    ///
    /// A version up to `oldest` that is declared no more is told to users below it by the manager itself.
    func changes(since record: VersionRecord, upgradesFrom oldest: AppVersion?) -> [RehearsalFinding] {
        let gone = record.versions.filter { version in
            !declared.contains(version) && oldest.map { version > $0 } ?? true
        }
        let disappeared = gone.map { version in
            RehearsalFinding(
                .disappeared,
                version: version,
                "Migration \(version) was declared in an earlier rehearsal and isn't any more: users below it would "
                    + "skip it. Put it back, pass upgradesFrom: with a version from it on, or delete its line in the record if it was "
                    + "never released."
            )
        }
        guard let newest = record.versions.max() else { return disappeared }
        let missed = declared.filter { $0 < newest && !record.versions.contains($0) }.map { version in
            RehearsalFinding(
                .missed,
                version: version,
                "Migration \(version) is new and lies below \(newest), which an earlier rehearsal knew: users at "
                    + "\(newest) never run it. Give it a version after \(newest), or delete the record's line of "
                    + "\(newest) if that was never released."
            )
        }
        return disappeared + missed
    }
}
