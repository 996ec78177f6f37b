import AppMigrations
import AppMigrationsTesting
import Foundation

/// A file or folder, by its path in the data folder.
func path(_ name: String, in folder: String) -> String { "\(folder)/\(name)" }

func write(_ text: String, to name: String, in folder: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path(name, in: folder)))
}

func read(_ name: String, in folder: String) throws -> String {
    try String(contentsOf: URL(filePath: path(name, in: folder)), encoding: .utf8)
}

func exists(_ name: String, in folder: String) -> Bool {
    FileManager.default.fileExists(atPath: path(name, in: folder))
}

func append(_ text: String, to name: String, in folder: String) throws {
    try write((exists(name, in: folder) ? read(name, in: folder) : "") + text, to: name, in: folder)
}

/// Data of a version whose only file lists the versions that made it.
func list(_ text: String = "1.0\n", at version: String = "1.0") -> StartingPoint {
    .version(version) { try write(text, to: "list.txt", in: $0) }
}

/// Adds its version to the list, unless it is there.
func addLine(_ version: String, in folder: String) throws {
    if try read("list.txt", in: folder).contains(version + "\n") { return }
    try append(version + "\n", to: "list.txt", in: folder)
}

/// Migrations that each add their version to the list.
func declare(_ versions: [String], _ migrations: MigrationManager, in folder: String) throws {
    for version in versions {
        try migrations.whenMigrating(toVersion: version) { try addLine(version, in: folder) }
    }
}

/// A rehearsal whose only migration is 1.1.
func rehearse(
    named name: String = "default",
    from points: [StartingPoint] = [list()],
    _ migration: (_ folder: String) throws -> Void
) throws -> RehearsalReport {
    try Rehearsal(named: name, currentVersion: "1.1", from: points).run { migrations, folder in
        try migrations.whenMigrating(toVersion: "1.1") { try migration(folder) }
    }
}

extension RehearsalReport {
    var texts: [String] { findings.map(\.description) }
}
