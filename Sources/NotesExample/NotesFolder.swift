import Foundation

/// The folder with the app's data, and the ways in which the releases change it.
///
/// A new file is written under a temporary name and synchronized to the disk. Then it gets its name, and only
/// after that is anything older removed.
struct NotesFolder: Sendable {
    let path: String

    var stateDirectory: String { path(of: "Migrations") }

    func path(of name: String) -> String { name.isEmpty ? path : "\(path)/\(name)" }

    /// True if something with that name exists.
    ///
    /// Every error other than "no such file" is thrown.
    func exists(_ name: String) throws -> Bool {
        var status = stat()
        if lstat(path(of: name), &status) == 0 { return true }
        guard errno == ENOENT else { throw failure("look for", name) }
        return false
    }

    /// The names in a folder inside this one, in the same order on every machine.
    func names(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(of: folder))
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(of: name))) }

    func readJSON<Value: Decodable>(_ name: String) throws -> Value {
        let data = try read(name)
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch {
            throw NotesError("\(path(of: name)) cannot be read: \(error)")
        }
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(of: name), withIntermediateDirectories: true)
    }

    /// Writes a file that nothing reads yet, and synchronizes it to the disk.
    func write(_ data: Data, to name: String) throws {
        try data.write(to: URL(filePath: path(of: name)))
        try synchronize(name)
    }

    /// Writes JSON that people can read.
    ///
    /// The same content gives the same bytes.
    func writeJSON(_ value: some Encodable, to name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try write(encoder.encode(value) + Data("\n".utf8), to: name)
    }

    /// Renames a file in one step.
    ///
    /// If another file has the new name, it is replaced.
    func rename(_ name: String, to newName: String) throws {
        guard Foundation.rename(path(of: name), path(of: newName)) == 0 else { throw failure("rename", name) }
        try synchronize(parent(of: newName))
    }

    /// Replaces a file in one step: a reader sees the old content or the new one, and never a part of it.
    func replace(_ name: String, with data: Data) throws {
        try write(data, to: name + ".new")
        try rename(name + ".new", to: name)
    }

    /// Removes a file or a folder, if it exists.
    ///
    /// If a step runs again, it may be gone already.
    func removeIfThere(_ name: String) throws {
        guard try exists(name) else { return }
        try FileManager.default.removeItem(atPath: path(of: name))
        try synchronize(parent(of: name))
    }

    /// Synchronizes a folder.
    ///
    /// Only then are the new names in it on the disk.
    func synchronize(_ name: String) throws {
        let descriptor = open(path(of: name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("save", name) }
    }

    private func parent(of name: String) -> String {
        name.contains("/") ? name.split(separator: "/").dropLast().joined(separator: "/") : ""
    }

    private func failure(_ verb: String, _ name: String) -> NotesError {
        let reason = String(cString: strerror(errno))
        return NotesError("Could not \(verb) \(path(of: name)): \(reason).")
    }
}

/// A failure to read or change the notes or preferences, described for the user.
struct NotesError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
