import AppMigrations
public import AppMigrationsSQL

/// A version that users upgrade from, with its data.
public struct StartingPoint: Sendable {
    enum Kind: Sendable, Equatable {
        case version(String)
        case freshInstall
        case everything
    }

    let kind: Kind
    /// The text after the version, such as ` (iPad)`.
    ///
    /// It distinguishes starting points of the same version.
    private(set) var label = ""
    let make: @Sendable (_ folder: String) throws -> Void
    /// What the release writes if a user goes back to it; `nil` if that isn't tested.
    private(set) var write: (@Sendable (_ folder: String) throws -> Void)?

    /// The data that `version` left, copied from a folder that is kept with the tests.
    ///
    /// The modification dates of the files are kept, but Git doesn't keep them. If a migration reads them,
    /// create the data with a closure that sets them.
    public static func version(_ version: String, copying folder: String) -> StartingPoint {
        StartingPoint(kind: .version(version)) { try FolderFiles.copyContents(of: folder, to: $0) }
    }

    /// The data that `version` left, created by a closure in an empty folder.
    ///
    /// The closure is called once, and every run begins with a copy of its data.
    public static func version(
        _ version: String,
        making data: @escaping @Sendable (_ folder: String) throws -> Void
    ) -> StartingPoint {
        StartingPoint(kind: .version(version), make: data)
    }

    /// A database with the schema that an ``SQLRehearsal`` recorded for `version`.
    ///
    /// ```swift
    /// let point = StartingPoint.schema("2.1", recordedIn: "2.1.sql") {
    ///     try SQLiteConnection(path: $0 + "/library.sqlite")
    /// }
    /// ```
    ///
    /// `file` is the path of the record, and `open` creates the database in a folder.
    public static func schema(
        _ version: String,
        recordedIn file: String,
        opening open: @escaping @Sendable (_ folder: String) throws -> any SQLConnection
    ) -> StartingPoint {
        .version(version) { folder in try SQLSchemaRecord(file: file).run(in: open(folder)) }
    }

    /// The data that the current version creates on a fresh install.
    ///
    /// No migration runs on it, and the upgrades must end with the same data.
    public static func freshInstall(
        making data: @escaping @Sendable (_ folder: String) throws -> Void
    ) -> StartingPoint {
        StartingPoint(kind: .freshInstall, make: data)
    }

    /// An empty folder, for a subsystem whose migrations create its data: all of them run.
    public static var everything: StartingPoint { StartingPoint(kind: .everything) { _ in } }

    /// This starting point, with what its release writes if a user goes back to it in the middle of an
    /// upgrade.
    ///
    /// An update can have several migrations. If the second one fails, or if the user ends the app in it, the
    /// first one has run. The user may then install the old release again, and work with it. For each
    /// migration of the upgrade but the last one, the rehearsal upgrades the data up to it, calls `data`, and
    /// completes the upgrade. The result has to be the same as if the release had written before the upgrade.
    ///
    /// ```swift
    /// let point = StartingPoint.version(
    ///     "1.0",
    ///     copying: fixtures + "/1.0"
    /// ).writing { folder in
    ///     let file = URL(filePath: folder + "/notes.txt")
    ///     try Data("Milk\nBread\nEggs\n".utf8).write(to: file)
    /// }
    /// ```
    ///
    /// A release with this library isn't simulated after a migration that has a `minimumAppVersion:` above
    /// it.
    ///
    /// - Parameter data: Writes to the folder what the release would write. Some migrations of the upgrade
    ///   may have changed the data in the folder already. An error that this closure throws ends the
    ///   rehearsal, which throws it.
    /// - Returns: The starting point with this closure.
    public func writing(_ data: @escaping @Sendable (_ folder: String) throws -> Void) -> StartingPoint {
        var point = self
        point.write = data
        return point
    }

    /// This starting point, with a label after its version in the report: `1.4 (iPad)`.
    ///
    /// Labels distinguish starting points of the same version. Without labels they are numbered:
    /// `1.4`, `1.4 (2)`.
    public func labeled(_ label: String) -> StartingPoint {
        var point = self
        point.label = " (\(label))"
        return point
    }

    /// The points, with numbers for those that would have the same name as an earlier one.
    static func numbered(_ points: [StartingPoint]) -> [StartingPoint] {
        var counts: [String: Int] = [:]
        return points.map { point in
            let number = counts[point.title, default: 0] + 1
            counts[point.title] = number
            var numbered = point
            if number > 1 { numbered.label += " (\(number))" }
            return numbered
        }
    }

    /// The name in the table.
    var title: String { names.title + label }

    /// The starting point, as the beginning of a sentence.
    var origin: String { names.origin + label }

    private var names: (title: String, origin: String) {
        switch kind {
        case .version(let version): (version, "From \(version)")
        case .freshInstall: ("fresh install", "With a fresh install")
        case .everything: ("everything", "From an empty folder")
        }
    }

    /// The correct answer of `firstRun:` for this data.
    var expectedFirstRun: MigrationManager.FirstRun {
        switch kind {
        case .version(let version): .existingData(at: version)
        case .freshInstall: .freshInstall
        case .everything: .everything
        }
    }

    /// The version of the data; `nil` if all migrations run.
    func version(current: AppVersion) throws(MigrationError) -> AppVersion? {
        switch kind {
        case .version(let version): try AppVersion(parsing: version)
        case .freshInstall: current
        case .everything: nil
        }
    }

    /// True if the data is from a release that already used this library, so that there is a state.
    ///
    /// `adoption` is the first such release.
    func hasState(since adoption: AppVersion, at version: AppVersion?) -> Bool {
        guard case .version = kind, let version else { return false }
        return version >= adoption
    }
}
