import AppMigrations
import Foundation

/// Functions that read, copy and write files and folders.
enum FolderFiles {
    /// The kinds of items in a folder.
    enum Entry: Equatable, CustomStringConvertible {
        case file
        case folder
        case link(to: String)
        case other

        var description: String {
            switch self {
            case .file: "a file"
            case .folder: "a folder"
            case .link(let target): "a link to \(target.debugDescription)"
            case .other: "neither file, folder nor link"
            }
        }
    }

    /// All items below a folder, by their paths inside it.
    ///
    /// Links are not followed.
    static func entries(in folder: String) throws -> [String: Entry] {
        var entries: [String: Entry] = [:]
        var foldersToVisit = [""]
        while let parent = foldersToVisit.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/" + parent) {
                let path = parent.isEmpty ? name : parent + "/" + name
                let entry = try entry(at: folder + "/" + path)
                entries[path] = entry
                if entry == .folder { foldersToVisit.append(path) }
            }
        }
        return entries
    }

    /// The kind of the item at a path; `nil` if there is none.
    static func entryIfPresent(_ path: String) throws -> Entry? {
        do {
            return try entry(at: path)
        } catch let error as CocoaError
            where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
        {
            return nil
        }
    }

    private static func entry(at path: String) throws -> Entry {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard let type = attributes[.type] as? FileAttributeType else { return .other }
        switch type {
        case .typeRegular: return .file
        case .typeDirectory: return .folder
        case .typeSymbolicLink:
            return .link(to: try FileManager.default.destinationOfSymbolicLink(atPath: path))
        default: return .other
        }
    }

    /// A path as messages show it: with one slash between two names, and none at the end.
    ///
    /// The path of a folder's URL ends with a slash, and tests append a name with a slash to it.
    static func withoutExtraSlashes(_ path: String) -> String {
        (path.hasPrefix("/") ? "/" : "") + path.split(separator: "/").joined(separator: "/")
    }

    static func read(_ path: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: path))) }

    /// The content of a text file; `nil` if the file is missing.
    ///
    /// Other errors are thrown.
    static func textIfPresent(_ path: String) throws -> String? {
        do {
            return try String(contentsOf: URL(filePath: path), encoding: .utf8)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        }
    }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }

    /// Writes `text` to a file, then each of `lines` as a line.
    ///
    /// If `text` doesn't end with a line end, one is added.
    static func write(_ text: String, appending lines: [String], to path: String) throws {
        let start = text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
        try write(start + lines.map { $0 + "\n" }.joined(), to: path)
    }

    /// The names in a folder, sorted; empty if the folder is missing.
    ///
    /// Other errors are thrown.
    static func names(in folder: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Creates a folder that no other user can read or write, whatever the umask is.
    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// Copies a file, or a folder and everything in it, with the modification dates.
    ///
    /// A migration may compare them with dates that the app has stored.
    static func copy(_ path: String, to target: String) throws {
        try FileManager.default.copyItem(atPath: path, toPath: target)
        #if !canImport(Darwin)
        // Only on Apple's systems, Foundation keeps the dates.
        try Platform.copyTimes(of: path, to: target)
        #endif
    }

    static func copyContents(of folder: String, to target: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try copy(folder + "/" + name, to: target + "/" + name)
        }
    }

    static func move(_ path: String, to target: String) throws {
        try FileManager.default.moveItem(atPath: path, toPath: target)
    }

    static func removeIfPresent(_ path: String) throws {
        do {
            try remove(path)
        } catch let error as CocoaError where error.code == .fileNoSuchFile {}
    }

    static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }
}
