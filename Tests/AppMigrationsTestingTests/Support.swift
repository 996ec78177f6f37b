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

extension RehearsalReport {
    var texts: [String] { findings.map(\.description) }
}
