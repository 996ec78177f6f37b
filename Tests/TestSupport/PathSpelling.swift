import Foundation

/// How the tests spell the paths of their folders.
///
/// `Tests/Torture/everywhere` runs the tests once for each spelling, on several file systems and as several users. The
/// spelling stands in the environment, since the process that runs the tests is the same program each time.
package enum PathSpelling {
    private static let spelling = ProcessInfo.processInfo.environment["APP_MIGRATIONS_SPELLING"] ?? "plain"

    private static let here = FileManager.default.currentDirectoryPath + "/"

    /// The path of a test's folder, as errors name it.
    package static func spelled(_ folder: String) throws -> String {
        // Behind a link it stays as it was made, in the folder for temporary files that is reached by one.
        if spelling == "link" { return folder }
        let folder = try resolved(folder)
        switch spelling {
        case "climbing":
            let depth = here.split(separator: "/").count
            return here + String(repeating: "../", count: depth) + folder.dropFirst()
        case "dots": return folder.replacing("/", with: "/./", maxReplacements: 2)
        case "doubled": return folder.replacing("/", with: "//")
        default: return folder
        }
    }

    /// The path without links; URL would leave out the /private in which Apple's systems have temporary files.
    package static func resolved(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else { throw CocoaError(.fileNoSuchFile) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The path of a state directory as a manager gets it: as it is, or with a slash at its end.
    package static func spelledFolder(_ folder: String) -> String {
        switch spelling {
        case "slash": folder + "/"
        default: folder
        }
    }
}
