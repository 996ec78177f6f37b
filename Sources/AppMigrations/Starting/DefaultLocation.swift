/// The defaults for the app's version and the state directory, and the check of a directory that the app
/// names.
enum DefaultLocation {
    static func version(of manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let version = AppBundle.version { return version }
        #endif
        let text: Message = """
            Manager \(manager.quoted) was given no currentVersion:, and the main bundle has no CFBundleShortVersionString.
            """
        throw MigrationError(.unknownCurrentVersion, manager: manager, text, advice: "Pass currentVersion:.")
    }

    /// The location of a manager's state.
    ///
    /// Its path is absolute. A relative one would be another folder in another working directory, and look
    /// like a fresh install.
    static func of(
        _ manager: String,
        in directory: String?,
        isReadOnly: Bool = false
    ) throws(MigrationError) -> StateLocation {
        try StateLocation.check(manager)
        let directory = if let directory { directory } else { try defaultDirectory(for: manager) }
        try requireAbsolute(directory, for: manager)
        return StateLocation(name: manager, directory: directory, isReadOnly: isReadOnly)
    }

    /// The directory if the app names none: only a bundle has one.
    ///
    /// The identifier of a bundle is the same in every release. The name of an executable isn't. If a new
    /// release looked for its state in another folder, it would be a fresh install and skip everything that
    /// is pending.
    private static func defaultDirectory(for manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let directory = AppBundle.stateDirectory { return directory }
        #endif
        let text: Message = """
            Manager \(manager.quoted) was given no stateDirectory:, and the program has no bundle that a default could be named \
            after.
            """
        let advice: Message = "Pass the path of a folder that each later release finds again."
        throw MigrationError(.unusableDirectory, manager: manager, text, advice: advice)
    }

    static func requireAbsolute(_ directory: String, for manager: String) throws(MigrationError) {
        var directory = directory
        let isAbsolute = directory.withUTF8 { $0.first == 0x2F && !$0.contains(0) }
        if !isAbsolute { throw unusable(directory, of: manager, because: reasonAgainst(directory)) }
    }

    /// Why a path that isn't absolute is refused.
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

    /// Refuses the path of a `URL` that still has its percent escapes.
    ///
    /// Folders with such names would be made. If a later start used the plain path, it would be a fresh
    /// install. This is only checked if there is no state.
    static func refuseEscapes(_ location: StateLocation) throws(MigrationError) {
        let reason: Message?
        do throws(SystemCallError) {
            reason = try FilePaths.escapes(location.directory)
        } catch {
            reason = "\(error)"
        }
        if let reason { throw unusable(location.directory, of: location.name, because: reason) }
    }

    private static func unusable(
        _ directory: String,
        of manager: String,
        because reason: Message
    ) -> MigrationError {
        MigrationError(
            .unusableDirectory,
            manager: manager,
            path: directory,
            "The state directory \(directory.quoted) of manager \(manager.quoted) can't be used: \(reason).",
            advice: "Pass the absolute path of a folder as stateDirectory:."
        )
    }
}
