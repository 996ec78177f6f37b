/// Provides the default app version and state directory, and checks a directory that the app passes.
enum DefaultLocation {
    static func version(of manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let version = AppBundle.version { return version }
        #endif
        let text: Message = """
            Manager \(manager.quoted) was created without currentVersion:, and the main bundle has no CFBundleShortVersionString.
            """
        throw MigrationError(.unknownCurrentVersion, manager: manager, text, advice: "Pass currentVersion:.")
    }

    /// Makes the location of a manager's state, and refuses a relative path.
    ///
    /// A relative path would name a different folder if the working directory changed. No state would be
    /// found there, so the start would look like a fresh install.
    static func of(_ manager: String, in directory: String?) throws(MigrationError) -> StateLocation {
        try StateLocation.check(manager)
        let directory = if let directory { directory } else { try defaultDirectory(for: manager) }
        try requireAbsolute(directory, for: manager)
        return StateLocation(name: manager, directory: directory)
    }

    /// The directory that is used if the app doesn't pass one.
    ///
    /// Only a program with a bundle identifier has a default directory: the identifier is the same in every
    /// release, but the name of an executable can change. If a new release looked for its state in another
    /// folder, it would treat itself as a fresh install and skip all pending migrations.
    private static func defaultDirectory(for manager: String) throws(MigrationError) -> String {
        #if canImport(Darwin)
        if let directory = AppBundle.stateDirectory { return directory }
        #endif
        let text: Message = """
            Manager \(manager.quoted) was created without stateDirectory:, and there is no default because the program has no \
            bundle identifier.
            """
        let advice: Message = "Pass the path of a folder that stays the same in all later releases."
        throw MigrationError(.unusableDirectory, manager: manager, text, advice: advice)
    }

    static func requireAbsolute(_ directory: String, for manager: String) throws(MigrationError) {
        var directory = directory
        let isAbsolute = directory.withUTF8 { $0.first == 0x2F && !$0.contains(0) }
        if !isAbsolute { throw unusable(directory, of: manager, because: reasonAgainst(directory)) }
    }

    /// The reason why a path is refused: it is relative, or it can't be a path at all.
    @inline(never)
    private static func reasonAgainst(_ directory: String) -> Message {
        if let reason = FilePaths.refusal(directory) { return reason }
        do throws(SystemCallError) {
            let path = try Platform.workingDirectory() + "/" + directory
            return "it is relative, so it means \(path) only as long as the working directory stays the same"
        } catch {
            return "it is relative, and the working directory can't be determined: \(error)"
        }
    }

    /// Refuses a path that contains percent escapes such as `%20`: the app probably took it from a `URL`.
    ///
    /// Otherwise, folders with escapes in their names would be created, and a later start with the correct
    /// path would look like a fresh install. This is checked only if there is no state yet, because a start
    /// that finds its state uses the right folder.
    static func requireNoEscapes(_ location: StateLocation) throws(MigrationError) {
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
