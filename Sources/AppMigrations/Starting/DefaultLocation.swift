/// The state's folder and the app's version, where the app gives none, and which folders are refused.
enum DefaultLocation {
    static func version(of manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let version = AppBundle.version { return version }
        #endif
        let text: Message = """
            Manager \(manager.quoted) was given no currentVersion:, and the main bundle has no \
            CFBundleShortVersionString. Nothing was run. Pass currentVersion:.
            """
        throw MigrationError(.unknownCurrentVersion, manager: manager, text)
    }

    /// The place of a manager's state.
    ///
    /// Its path is absolute: a relative one would be another folder in another working directory, and look like a fresh install.
    static func of(
        _ manager: String,
        in directory: String?,
        isReadOnly: Bool = false
    ) throws(MigrationError) -> StateLocation {
        try StateLocation.check(manager)
        let directory = if let directory { directory } else { try Self.directory(manager) }
        try requireAbsolute(directory, manager)
        return StateLocation(name: manager, directory: directory, isReadOnly: isReadOnly)
    }

    /// A bundle's identifier stays the same in every release, and the name by which a program is started doesn't: at another folder
    /// the next release would be a fresh install, and skip everything that is pending.
    private static func directory(_ manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let directory = AppBundle.stateDirectory { return directory }
        #endif
        let text: Message = """
            Manager \(manager.quoted) was given no stateDirectory:, and the program has no bundle that a default could be named \
            after. Nothing was run or written. Pass the path of a folder that each later release finds again.
            """
        throw MigrationError(.unusableDirectory, manager: manager, text)
    }

    static func requireAbsolute(_ directory: String, _ manager: String) throws(MigrationError) {
        var directory = directory
        let isAbsolute = directory.withUTF8 { $0.first == 0x2F && !$0.contains(0) }
        if !isAbsolute { throw unusable(directory, manager, reasonAgainst(directory)) }
    }

    @inline(never)
    private static func reasonAgainst(_ directory: String) -> Message {
        if let reason = FilePaths.refusal(directory) { return reason }
        do throws(SystemCallError) {
            let path = try Platform.workingDirectory() + "/" + directory
            return "it is relative, and is \(path) only as long as the working directory stays the same"
        } catch {
            return "it is relative, and \(error)"
        }
    }

    /// Refuses the path of a `URL` that still has its escapes: the folders of those names would be made, and another start
    /// that gives the plain path would be a fresh install.
    ///
    /// Asked only where there is no state.
    static func refuseEscapes(_ location: StateLocation) throws(MigrationError) {
        let reason: Message?
        do throws(SystemCallError) { reason = try FilePaths.escapes(location.directory) } catch {
            reason = "\(error)"
        }
        if let reason { throw unusable(location.directory, location.name, reason) }
    }

    private static func unusable(_ directory: String, _ manager: String, _ reason: Message) -> MigrationError
    {
        let text: Message = """
            The state directory \(directory.quoted) of manager \(manager.quoted) can't be used: \(reason). \
            Nothing was run or written. Pass the absolute path of a folder as stateDirectory:.
            """
        return MigrationError(.unusableDirectory, manager: manager, path: directory, text)
    }
}
