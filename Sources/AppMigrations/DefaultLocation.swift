/// Where the state is, when the app doesn't say, and what the app's version is.
enum DefaultLocation {
    static func directory(manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let directory = AppBundle.stateDirectory { return directory }
        throw .unusableDirectory("", manager: manager, "there is no Application Support folder")
        #else
        guard let executable = Platform.executableName else {
            throw .unusableDirectory("", manager: manager, "the program was started without a name")
        }
        // XDG Base Directory Specification: a relative path is invalid and to be ignored.
        if let data = Platform.environment("XDG_DATA_HOME"), data.utf8.first == 0x2F {
            return "\(data)/\(executable)/Migrations"
        }
        guard let home = Platform.environment("HOME"), home.utf8.first == 0x2F else {
            throw .unusableDirectory(
                "",
                manager: manager,
                "HOME is not set to a path, so there is no default"
            )
        }
        return "\(home)/.local/share/\(executable)/Migrations"
        #endif
    }

    static func currentVersion(manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let version = AppBundle.version { return version }
        #endif
        throw .unknownCurrentVersion(manager)
    }

    /// Makes a path that stays true when the process changes its working directory, and refuses what can't be one.
    @inline(__always)
    static func absolute(_ directory: String, manager: String) throws(MigrationError) -> String {
        var directory = directory
        let isPlain = directory.withUTF8 { bytes in
            guard let first = bytes.first, first == 0x2F else { return false }
            for byte in bytes where byte == 0 { return false }
            return true
        }
        return isPlain ? directory : try completed(directory, manager: manager)
    }

    @inline(never)
    private static func completed(_ directory: String, manager: String) throws(MigrationError) -> String {
        if directory.isEmpty { throw .unusableDirectory(directory, manager: manager, "it is empty") }
        if directory.utf8.contains(0) {
            throw .unusableDirectory(directory, manager: manager, "a path has no NUL character")
        }
        if directory.hasPrefix("file:") {
            throw .unusableDirectory(
                directory,
                manager: manager,
                "it is a URL; give its path(percentEncoded: false)"
            )
        }
        do throws(SystemCallError) {
            return try Platform.workingDirectory() + "/" + directory
        } catch {
            throw .unusableDirectory(directory, manager: manager, "it is relative, and \(error)")
        }
    }
}
