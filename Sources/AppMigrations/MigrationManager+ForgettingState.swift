extension MigrationManager {
    /// Moves the state file to another name.
    ///
    /// The next manager that is created finds no state, so it begins with a first run.
    ///
    /// Use it in a recovery screen or a command-line tool if the state is damaged, has a newer format, or
    /// can't be trusted any more. It needs no manager, so it works even if a manager can't be created. The
    /// state and your data are kept.
    ///
    /// If a process died while it was replacing a file or a folder, its work is finished first. If that isn't
    /// possible now, this is no error. Then the next declaration that replaces the same path puts a missing
    /// folder back. A replacement that wasn't recorded runs again, on its own result. No event is sent. What
    /// is moved aside is beside the data, in a folder whose name contains `.left-` or `.found-`.
    ///
    /// This call waits for a migration that is running. If there is no state, it creates no files. A manager
    /// that was created before this call still has the old state in memory, and throws `stateUnreadable` when
    /// it has to run a migration. So create a new manager, and say with `firstRun:` which data already
    /// exists. Migrations that are recorded elsewhere stay recorded there: in a database, or by an old
    /// library.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The absolute path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` if there is no limit.
    /// - Returns: The path to which the state was moved, `<name>.migrations.forgotten-<time>` in the same
    ///   folder; `nil` if there was no state.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`,
    ///   `lockTimeout`, `cancelled`, `stateUnreadable` (the folder can't be read, or the device hasn't been
    ///   unlocked yet), or `stateNotSaved`. If it throws, the state wasn't moved, unless the error's
    ///   description says otherwise.
    public static func forgetState(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        do throws(MigrationError) {
            let location = try DefaultLocation.of(name, in: stateDirectory)
            let file = StateFile(location: location)
            // Check first without the lock. Taking the lock creates the state directory, even if there is no
            // state.
            guard try file.exists() else { return nil }
            let lock = try FileLock.take(at: location, options: Options(lockTimeout: lockTimeout))
            guard try file.exists() else { return nil }
            var locked = LockedState(lock, at: location, state: try readableState(in: file))
            // If this fails, the working folder is left as it is. The next declaration that replaces the same
            // path settles it.
            do throws(MigrationError) { try locked.settleReplacements(sendingTo: nil) } catch _ {}
            return try locked.moveStateAside()
        } catch {
            throw error.leaving(.text("The state was not moved."))
        }
    }

    /// Reads the state; `nil` if it is damaged.
    ///
    /// Throws if it can't be read now, but may be readable later, for example after the first unlock of the
    /// device: such a state must not be forgotten.
    private static func readableState(in file: StateFile) throws(MigrationError) -> MigrationState? {
        do throws(MigrationError) {
            return try file.readState()
        } catch {
            if error.isTransient { throw error }
            return nil
        }
    }
}
