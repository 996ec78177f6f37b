public import AppMigrationsSQL

/// The record of the SQL migrations that were released: a text file with a line for each, kept with the
/// tests.
///
/// A released migration has run in the databases of users. If you edit it, they don't get the change. If you
/// remove it, or add a new one below it, new databases differ from old ones. ``findings(in:)`` reports all of
/// these before you release them. It works with the migrations of any database, and runs none.
///
/// ```swift
/// let released = ReleasedMigrations(
///     file: folderOfTheTests + "/migrations.lock"
/// )
/// #expect(try released.findings(in: migrator).isEmpty)
/// ```
///
/// A line has the version, the checksum of the SQL, or `-` for a closure, and the name. Lines that begin with
/// `#` are ignored. Delete the line of a migration that was never released.
public struct ReleasedMigrations: Sendable {
    let file: String

    /// Prepares to use a file, and reads nothing yet.
    ///
    /// - Parameter file: The path of the file. ``record(_:)`` creates it.
    public init(file: String) { self.file = file }

    /// Adds the migrations that the file lacks, for the release that is about to be made.
    ///
    /// - Throws: The first finding, a `RehearsalFinding`, and the file is as it was; errors of files.
    public func record<Connection>(_ migrator: SQLMigrator<Connection>) throws {
        let text = try FolderFiles.textIfThere(file)
        let released = try text.map(lines) ?? []
        if let first = try findings(in: migrator.migrations, released: released).first { throw first }
        let new = migrator.migrations.filter { migration in
            !released.contains { $0.version == migration.version }
        }
        if text != nil, new.isEmpty { return }
        let start =
            text
            ?? "# Released SQL migrations: version, checksum, name. Commit this file, and edit none of them.\n"
        // A line end in a name would make two lines of one.
        let added = try new.map { migration in
            let name = (migration.name ?? "").split(whereSeparator: \.isNewline).joined(separator: " ")
            return "\(migration.version) \(try migration.checksum() ?? "-") \(name)"
        }
        let block = added.map { $0.last == " " ? String($0.dropLast()) : $0 }
        try FolderFiles.write(start, appending: block, to: file)
    }

    /// Findings about released migrations that were edited or removed, and about new ones below them.
    ///
    /// - Returns: The findings in the order of the file; ``RehearsalFinding/Kind/notRehearsed`` if the file
    ///   is missing.
    /// - Throws: `SQLError` for a migration whose file can't be read; errors of reading the record.
    public func findings<Connection>(in migrator: SQLMigrator<Connection>) throws -> [RehearsalFinding] {
        guard let text = try FolderFiles.textIfThere(file) else {
            let problem = "There is no lock file \(file), so it is unknown which migrations were released."
            return [RehearsalFinding(.notRehearsed, "\(problem) Record them.")]
        }
        do {
            return try findings(in: migrator.migrations, released: lines(text))
        } catch let unreadable as RehearsalFinding {
            return [unreadable]
        }
    }

    private struct Line {
        let version: Int64
        /// `nil` for a closure.
        let checksum: String?
        let name: String

        var label: String { name.isEmpty ? "\(version)" : "\(version) (\(name))" }
    }

    private func lines(_ text: String) throws -> [Line] {
        var lines = [Line]()
        let texts = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in zip(1..., texts) where !line.isEmpty && !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count >= 2, let version = Int64(parts[0]), parts[1] == "-" || parts[1].contains(":")
            else {
                let problem = "Line \(number) of \(file) can't be read: \(line)."
                let way = "It should be a version, a checksum and a name."
                throw RehearsalFinding(.unreadableLock, "\(problem) \(way)")
            }
            let checksum = parts[1] == "-" ? nil : String(parts[1])
            let name = parts.count > 2 ? String(parts[2]) : ""
            lines.append(Line(version: version, checksum: checksum, name: name))
        }
        return lines
    }

    private func findings<Connection>(
        in migrations: [SQLMigration<Connection>],
        released: [Line]
    ) throws -> [RehearsalFinding] {
        var findings = [RehearsalFinding]()
        for line in released {
            guard let migration = migrations.first(where: { $0.version == line.version }) else {
                findings.append(try disappearance(of: line, released: released, migrations: migrations))
                continue
            }
            // A closure has no checksum. An SQL text in its place is another migration.
            if try migration.checksum() == line.checksum { continue }
            let text =
                "\(subject(migration)) was edited after its release: databases that have it never get the change. "
                + "Put the released text back, and write the change as a new migration."
            findings.append(RehearsalFinding(.changed, version: line.version, text))
        }
        guard let newest = released.map(\.version).max() else { return findings }
        let last = max(newest, migrations.last?.version ?? newest)
        for migration in migrations where migration.version < newest {
            if released.contains(where: { $0.version == migration.version }) { continue }
            let text =
                "\(subject(migration)) is new and lies below \(newest), which was released: databases at \(newest) run it "
                + "after \(newest), and new ones before. Give it a version after \(last)."
            findings.append(RehearsalFinding(.missed, version: migration.version, text))
        }
        return findings
    }

    private func disappearance<Connection>(
        of line: Line,
        released: [Line],
        migrations: [SQLMigration<Connection>]
    ) throws -> RehearsalFinding {
        let renumbered = try migrations.first { migration in
            guard let then = line.checksum, !released.contains(where: { $0.version == migration.version })
            else { return false }
            return try migration.checksum() == then
        }
        let way =
            renumbered.map {
                "\(subject($0)) has its text, which databases that have it as \(line.version) would run once more. "
                    + "Give it back the version \(line.version)."
            } ?? "New databases would lack what it makes. Put it back."
        let text = "Migration \(line.label) was released, and is missing now. \(way)"
        return RehearsalFinding(.disappeared, version: line.version, text)
    }

    private func subject<Connection>(_ migration: SQLMigration<Connection>) -> String {
        migration.file ?? "Migration \(migration)"
    }
}
