import AppMigrations
public import AppMigrationsSQL

/// Where a user comes from: a version, and a way to make the data that it left.
public struct StartingPoint: Sendable {
    enum Kind: Sendable, Equatable {
        case version(String)
        case freshInstall
        case nothing
    }

    let kind: Kind
    /// A label that sets it apart from others of its version.
    private(set) var label = ""
    let make: @Sendable (_ folder: String) throws -> Void

    /// Data as `version` left it, copied from a folder that is kept with the tests.
    public static func version(_ version: String, copying folder: String) -> StartingPoint {
        StartingPoint(kind: .version(version)) { try FolderFiles.copyContents(of: folder, to: $0) }
    }

    /// Data as `version` left it, made by a closure in an empty folder.
    ///
    /// It is called once, and every run begins with a copy of what it made.
    public static func version(
        _ version: String,
        making data: @escaping @Sendable (_ folder: String) throws -> Void
    ) -> StartingPoint {
        StartingPoint(kind: .version(version), make: data)
    }

    /// Data of `version` that is a database with the schema that an ``SQLRehearsal`` recorded for it.
    ///
    /// ```swift
    /// let point = StartingPoint.schema("2.1", recordedIn: "2.1.sql") {
    ///     try SQLiteConnection(path: $0 + "/library.sqlite")
    /// }
    /// ```
    ///
    /// `file` is the path of the record, and `open` opens the database in a folder, where there is none yet.
    public static func schema(
        _ version: String,
        recordedIn file: String,
        opening open: @escaping @Sendable (_ folder: String) throws -> any SQLConnection
    ) -> StartingPoint {
        .version(version) { folder in try SQLSchemaRecord(file: file).make(in: open(folder)) }
    }

    /// The data that the current version makes where there is none.
    ///
    /// No migration runs on it, and the upgrades have to end with the same data.
    public static func freshInstall(
        making data: @escaping @Sendable (_ folder: String) throws -> Void
    ) -> StartingPoint {
        StartingPoint(kind: .freshInstall, make: data)
    }

    /// An empty folder, of a subsystem that builds itself through its migrations: all of them run.
    public static var everything: StartingPoint { StartingPoint(kind: .nothing) { _ in } }

    /// This starting point, with a name behind its version in the report: `1.4 (iPad)`.
    ///
    /// It tells starting points of one version apart. Those without a name are numbered: `1.4`, `1.4 (2)`.
    public func labeled(_ label: String) -> StartingPoint {
        var point = self
        point.label = " (\(label))"
        return point
    }

    /// The points, those numbered that would have the name of one before them.
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

    /// Where the user comes from, to begin a sentence.
    var origin: String { names.origin + label }

    private var names: (title: String, origin: String) {
        switch kind {
        case .version(let version): (version, "From \(version)")
        case .freshInstall: ("fresh install", "With a fresh install")
        case .nothing: ("everything", "From an empty folder")
        }
    }

    var firstRun: MigrationManager.FirstRun {
        switch kind {
        case .version(let version): .existingData(at: version)
        case .freshInstall: .freshInstall
        case .nothing: .everything
        }
    }

    /// The version that the data is at; `nil` where everything runs.
    func version(current: AppVersion) throws(MigrationError) -> AppVersion? {
        switch kind {
        case .version(let version): try AppVersion(parsing: version)
        case .freshInstall: current
        case .nothing: nil
        }
    }

    /// True if it was left by a release that has this library, which the release `adoption` was the first to have.
    func hasState(since adoption: AppVersion, at version: AppVersion?) -> Bool {
        guard case .version = kind, let version else { return false }
        return version >= adoption
    }
}
