extension MigrationManager {
    /// Abandons the restore of protected files: they stay as they are, and their copies are kept.
    ///
    /// Use it in a recovery screen if every start throws `protectionFailed` because the files can't be
    /// restored, and the cause can't be fixed. The copies are moved to a folder next to the state. If they
    /// can't be moved, they are marked as kept where they are. This library never touches them again.
    ///
    /// The migration stays pending. The next start runs its closure on the files as they are;
    /// ``MigrationContext/isRetry`` is true. Before that start, the app can copy files back from the folder
    /// that this call returns. If a migration of another manager was refused because it protects the same
    /// files, it can run now.
    ///
    /// This call works in every version of the app, and waits for the lock. If no files have to be restored,
    /// it creates no files.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The absolute path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` if there is no limit.
    /// - Returns: The folder with the copies; `nil` if no files have to be restored, or if the copies are
    ///   lost. In this folder, `0/item` is the copy for the first path of `protecting:`, `1/item` for the
    ///   second, and so on. Paths inside other paths aren't counted. `0/absent` means that nothing existed at
    ///   the first path. If a restore had already begun, the copies that are missing in this folder have been
    ///   restored. If a path is a folder, its entries that are still in `0/item.entries` haven't been
    ///   restored.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`,
    ///   `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`,
    ///   `stateNotSaved` or `protectionFailed`. If it throws, nothing is lost, and you can call it again.
    public static func abandonRestore(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        do throws(MigrationError) {
            return try abandonRestore(
                in: DefaultLocation.of(name, in: stateDirectory),
                lockTimeout: lockTimeout
            )
        } catch {
            throw error.completed(by: "No restore was abandoned.")
        }
    }

    private static func abandonRestore(
        in location: StateLocation,
        lockTimeout: Duration?
    ) throws(MigrationError) -> String? {
        // Check first without the lock. Taking the lock creates the state directory, even if there is nothing
        // to abandon.
        guard let found = try StateFile(location: location).readState(), found.versions.awaitsRestore else {
            return nil
        }
        let locked = try LockedState.take(Reporter(location), timeout: lockTimeout, recovering: false)
        guard let state = locked.state, state.versions.awaitsRestore,
            let interruption = state.versions.interruption
        else { return nil }
        do {
            let time = interruption.startedAt
            let files = try SavedFiles(in: location, of: interruption.version)
            let kept = try files?.keep(asOf: time) ?? SavedFiles.lastKept(of: location, asOf: time)
            try locked.save(state.endingRestore())
            return kept
        } catch {
            throw location.protectionError(.abandoning, of: interruption.version, because: error)
        }
    }
}
