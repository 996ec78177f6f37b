import Foundation

/// Reads the preferences of a folder, whichever release has written them, and changes nothing.
struct NotesPreferences {
    let folder: NotesFolder

    static let textFile = "preferences.txt"
    static let jsonFile = "preferences.json"

    /// The release that introduced the format in which the preferences are stored.
    ///
    /// The text file is removed last, so it is read as long as it exists.
    func layout() throws -> String {
        if try folder.exists(Self.textFile) { return "1.0" }
        if try folder.exists(Self.jsonFile) { return "1.2.5" }
        throw NotesError(
            "There are no preferences in \(folder.path): neither \(Self.textFile) nor \(Self.jsonFile)."
        )
    }

    func values() throws -> [String: String] {
        if try layout() == "1.0" {
            return try Self.decodeText(folder.read(Self.textFile), path: folder.path(of: Self.textFile))
        }
        return try folder.readJSON(Self.jsonFile)
    }

    /// Reads lines of `key=value`.
    ///
    /// The value is everything after the first `=`, including spaces. Empty lines and lines that begin with
    /// `#` are ignored.
    static func decodeText(_ data: Data, path: String) throws -> [String: String] {
        guard let content = String(validating: data, as: UTF8.self) else {
            throw NotesError("\(path) is not UTF-8 text.")
        }
        var values: [String: String] = [:]
        for (index, line) in content.lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            let bytes = line.utf8
            guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals != bytes.startIndex else {
                throw NotesError("\(path), line \(index + 1) is not `key=value`: \(line.debugDescription).")
            }
            let value = String(Substring(bytes[bytes.index(after: equals)...]))
            guard values.updateValue(value, forKey: String(line[..<equals])) == nil else {
                throw NotesError("\(path), line \(index + 1) sets \(line[..<equals]) a second time.")
            }
        }
        return values
    }
}
