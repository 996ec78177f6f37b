import AppMigrations

/// The releases of a product, in the order of their dates.
///
/// Each brings a migration of its own version.
struct Product {
    let name: String
    private(set) var releases: [Release] = []
    let unreadableCount: Int
    let repeatedCount: Int
    let misnumberedCount: Int

    struct Release {
        let version: AppVersion

        /// The newest release of the main line, by its version, of which this one is a hotfix; `nil` on the main line.
        let base: AppVersion?

        /// What this release declares, in ascending order.
        let migrations: [Migration]
    }

    struct Migration: Hashable {
        let version: AppVersion

        /// The first release of the main line that has this migration, if a hotfix brought it.
        let addedIn: AppVersion?
    }

    /// What is known of the releases so far.
    private var mainLine: [AppVersion] = []
    private var hotfixes: [(version: AppVersion, base: AppVersion, addedIn: AppVersion?)] = []

    init(name: String, versions texts: [String]) {
        self.name = name
        let read = texts.map(readRelease)
        unreadableCount = read.count { $0 == nil }
        var versions: [AppVersion] = []
        for case let version? in read where !versions.contains(version) { versions.append(version) }
        repeatedCount = read.count - unreadableCount - versions.count
        // A number that all later ones are below, such as a date in one tag: nobody can go on from it.
        let isMisnumbered = versions.indices.map { index in
            let later = versions[(index + 1)...]
            return later.count >= 10 && later.allSatisfy { $0 < versions[index] }
        }
        misnumberedCount = isMisnumbered.count(where: \.self)
        for (version, isMisnumbered) in zip(versions, isMisnumbered) where !isMisnumbered { add(version) }
    }

    private mutating func add(_ version: AppVersion) {
        let isOfMainLine = mainLine.allSatisfy { $0 < version }
        let base = isOfMainLine ? nil : mainLine.last { $0 < version } ?? AppVersion("0")
        if let base {
            hotfixes.append((version, base, nil))
        } else {
            mainLine.append(version)
            // A release of the main line has everything that hotfixes brought before it.
            for index in hotfixes.indices where hotfixes[index].addedIn == nil {
                hotfixes[index].addedIn = version
            }
        }
        releases.append(
            Release(version: version, base: base, migrations: migrations(of: version, base: base))
        )
    }

    private func migrations(of version: AppVersion, base: AppVersion?) -> [Migration] {
        var migrations: [Migration] = []
        for main in mainLine where main <= base ?? version {
            migrations.append(Migration(version: main, addedIn: nil))
        }
        for hotfix in hotfixes where hotfix.version <= version {
            if let base, hotfix.base == base {
                // The same line: whoever has this release has passed that one.
                migrations.append(Migration(version: hotfix.version, addedIn: nil))
            } else if let addedIn = hotfix.addedIn, addedIn <= base ?? version {
                migrations.append(Migration(version: hotfix.version, addedIn: addedIn))
            }
        }
        return migrations.sorted { $0.version < $1.version }
    }

    /// The hotfixes that no later release of the main line has, because the numbers went down for good or the product ended.
    var hotfixesWithoutMainLine: Int { hotfixes.count { $0.addedIn == nil } }
}

/// The release of a text; `nil` if it can't be read or is version 0, at which nothing can be declared.
private func readRelease(_ text: String) -> AppVersion? {
    do throws(MigrationError) {
        let version = try AppVersion(releaseOf: text)
        return version == AppVersion("0") ? nil : version
    } catch {
        // Many stores and tags show a number alone, which is a version too.
        return AppVersion(text) == AppVersion("0") ? nil : AppVersion(text)
    }
}
