public import AppMigrationsSQL

/// A lock file that lists the released SQL migrations, one on each line.
///
/// Keep the file with the tests. A released migration has run in the databases of users. If you edit the
/// migration later, these databases don't get the change. If you remove it, or add a migration with a lower
/// version, new databases will differ from existing ones. ``findings(in:)`` reports all of these mistakes
/// before you release them. It works with the migrations of any database, and runs none.
///
/// ```swift
/// let released = ReleasedMigrations(
///     file: folderOfTheTests + "/migrations.lock"
/// )
/// #expect(try released.findings(in: migrator).isEmpty)
/// ```
///
/// Each line has the version, then the checksum of the SQL (for a closure `-`), and then the name. So an
/// edited closure isn't found, such as one with a `TableRebuild`. Lines that begin with `#` are ignored.
/// Delete the line of a migration that was never released.
public struct ReleasedMigrations: Sendable {
    let file: String

    /// Creates a value for a lock file; reads nothing yet.
    ///
    /// - Parameter file: The path of the lock file. ``record(_:)`` creates it.
    public init(file: String) { self.file = FolderFiles.withoutExtraSlashes(file) }

    /// Adds the migrations that aren't in the lock file yet.
    ///
    /// Call this before each release.
    ///
    /// - Throws: The first `RehearsalFinding`, if there are any. Then the file isn't changed. Also errors of
    ///   reading or writing the file.
    public func record<Connection>(_ migrator: SQLMigrator<Connection>) throws {
        let text = try FolderFiles.textIfPresent(file)
        let released = try text.map(lines) ?? []
        if let first = try findings(in: migrator.migrations, released: released).first { throw first }
        let new = migrator.migrations.filter { migration in
            !released.contains { $0.version == migration.version }
        }
        if text != nil, new.isEmpty { return }
        let start =
            text
            ?? "# Released SQL migrations: version, checksum, name. Commit this file. Don't edit a migration that is listed.\n"
        let added = try new.map { migration in
            // Line ends in a name become spaces, so that each migration has one line.
            let name = (migration.name ?? "").split(whereSeparator: \.isNewline).joined(separator: " ")
            let parts = [migration.version.description, try migration.checksum() ?? "-", name]
            return parts.filter { !$0.isEmpty }.joined(separator: " ")
        }
        try FolderFiles.write(start, appending: added, to: file)
    }

    /// Findings about released migrations that were edited or removed, and about new migrations with lower
    /// versions.
    ///
    /// - Returns: First the findings about released migrations, in the order in which the lock file lists
    ///   them, and then those about new migrations. If there is no lock file, the only finding is
    ///   ``RehearsalFinding/Kind/notRehearsed``.
    /// - Throws: `SQLError` for a migration whose file can't be read; errors of reading the lock file.
    public func findings<Connection>(in migrator: SQLMigrator<Connection>) throws -> [RehearsalFinding] {
        guard let text = try FolderFiles.textIfPresent(file) else {
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
                let advice = "It should be a version, a checksum and a name."
                throw RehearsalFinding(.unreadableLock, "\(problem) \(advice)")
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
            // A closure has no checksum. So replacing a closure by SQL, or SQL by a closure, counts as a
            // change.
            if try migration.checksum() == line.checksum { continue }
            let text =
                "\(subject(migration)) was edited after its release. Databases that already ran it won't get the "
                + "change. Restore the released text, and put the change in a new migration."
            findings.append(RehearsalFinding(.changed, version: line.version, text))
        }
        guard let newest = released.map(\.version).max() else { return findings }
        let last = max(newest, migrations.last?.version ?? newest)
        for migration in migrations where migration.version < newest {
            if released.contains(where: { $0.version == migration.version }) { continue }
            let text =
                "\(subject(migration)) is new, but \(newest) is already released. Existing databases would run it "
                + "after \(newest), and new databases before \(newest). Give it a version above \(last)."
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
            let isReleased = released.contains { $0.version == migration.version }
            guard let releasedChecksum = line.checksum, !isReleased else { return false }
            return try migration.checksum() == releasedChecksum
        }
        let advice =
            renumbered.map {
                "\(subject($0)) has the same SQL. Databases that ran it as \(line.version) would run it again. "
                    + "Change its version back to \(line.version)."
            } ?? "New databases would lack what it creates. Restore it."
        let text = "Migration \(line.label) was released, and is missing now. \(advice)"
        return RehearsalFinding(.disappeared, version: line.version, text)
    }

    private func subject<Connection>(_ migration: SQLMigration<Connection>) -> String {
        migration.file ?? "Migration \(migration)"
    }
}
