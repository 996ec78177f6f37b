import AppMigrations

/// The findings about the declared versions alone.
struct VersionMistakes {
    let declared: [AppVersion]
    /// Those that also run below the last-run version.
    var outOfOrder: Set<AppVersion> = []
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

    /// A version that an earlier rehearsal wrote down and this one doesn't fit.
    ///
    /// A version up to `oldest` that is declared no more is told to users below it by the manager itself.
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

/// The file of versions that were ever declared, one on each line.
///
/// Empty lines, and lines that begin with `#`, are passed over.
struct VersionRecord {
    let path: String
    let text: String
    let versions: [AppVersion]

    init(path: String) throws {
        self.path = path
        text = try FolderFiles.textIfThere(path) ?? ""
        versions = try text.split(whereSeparator: \.isNewline)
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map { line throws(MigrationError) in try AppVersion(parsing: line) }
    }

    func append(_ declared: [AppVersion]) throws {
        let new = declared.filter { !versions.contains($0) }
        guard !new.isEmpty else { return }
        try FolderFiles.write(text, appending: new.map(\.description), to: path)
    }
}
