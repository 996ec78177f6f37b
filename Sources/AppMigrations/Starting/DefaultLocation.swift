/// The state's folder and the app's version, where the app gives none.
enum DefaultLocation {
    static func directory(manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        let directory = try text(manager) { () throws(SystemCallError) in try AppBundle.stateDirectory }
        if let directory { return directory }
        throw .unusableDirectory("", manager: manager, "there is no Application Support folder")
        #else
        let name = try text(manager) { () throws(SystemCallError) in try Platform.executableName }
        guard let executable = name else {
            throw .unusableDirectory("", manager: manager, "the program was started without a name")
        }
        // XDG Base Directory Specification: a relative path is invalid and to be ignored.
        if let data = try environment("XDG_DATA_HOME", manager), data.utf8.first == 0x2F {
            return "\(data)/\(executable)/Migrations"
        }
        guard let home = try environment("HOME", manager), home.utf8.first == 0x2F else {
            throw .unusableDirectory(
                "",
                manager: manager,
                "HOME is not set to a path, so there is no default"
            )
        }
        return "\(home)/.local/share/\(executable)/Migrations"
        #endif
    }

    #if !canImport(Darwin)
    private static func environment(_ name: String, _ manager: String) throws(MigrationError) -> String? {
        try text(manager) { () throws(SystemCallError) in try Platform.environment(name) }
    }
    #endif

    private static func text(
        _ manager: String,
        _ read: () throws(SystemCallError) -> String?
    ) throws(MigrationError) -> String? {
        do throws(SystemCallError) {
            return try read()
        } catch {
            throw .unusableDirectory("", manager: manager, "the default can't be named, \(error)")
        }
    }

    static func currentVersion(manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let version = AppBundle.version { return version }
        #endif
        throw .unknownCurrentVersion(manager)
    }

    /// Completes a path, so that it stays true when the process changes its working directory, and refuses a text that can't be
    /// a path.
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

    /// Refuses the path of a `URL` that still has its escapes: the folders of those names would be made, and another start
    /// that gives the plain path would be a fresh install.
    ///
    /// Asked only where there is no state. A folder that stands there under the escaped name is meant.
    static func refuseEncoded(_ location: StateLocation) throws(MigrationError) {
        var above = "/"
        for component in location.directory.split(separator: "/").map(String.init) {
            if let decoded = PercentEncoding.decoded(component),
                try !stands(above + component, location)
            {
                guard try stands(above, location) else { return }
                throw .unusableDirectory(
                    location.directory,
                    manager: location.name,
                    """
                    it is percent-encoded, and \(above)\(component) isn't there: where \(decoded) is meant, take \
                    path(percentEncoded: false) of the URL, else make the folder first
                    """
                )
            }
            above += component + "/"
        }
    }

    private static func stands(_ path: String, _ location: StateLocation) throws(MigrationError) -> Bool {
        do throws(SystemCallError) {
            _ = try FileStatus(ofEntry: path)
            return true
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return false
            }
            throw .unusableDirectory(location.directory, manager: location.name, "\(error)")
        }
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
        if directory.utf8.first == 0x7E {
            throw .unusableDirectory(
                directory,
                manager: manager,
                "~ at its beginning means the home folder to a shell only; give the whole path, or ./~ for that name"
            )
        }
        do throws(SystemCallError) {
            return try Platform.workingDirectory() + "/" + directory
        } catch {
            throw .unusableDirectory(directory, manager: manager, "it is relative, and \(error)")
        }
    }
}
