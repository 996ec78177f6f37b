extension MigrationManager {
    /// Gives up putting protected files back: they stay as they are, and their copies are kept.
    ///
    /// For a recovery screen: every start throws `protectionFailed`, because the files can't be put back, and the reason can't be
    /// mended. The copies move to a folder beside the state, which this library never touches again. The
    /// migration stays pending, and the next start runs its closure on the files as they are, with
    /// ``MigrationContext/isRetry``; the app can copy from that folder before.
    ///
    /// It works in every version of the app, and makes nothing where nothing waits to be put back. It waits for the lock.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` waits as long as it takes.
    /// - Returns: The folder with the copies: `0/item` is what the first path of `protecting:` named, `1/item` the second,
    ///   of those that stood in no other; `0/absent` says that nothing was there. `nil` where nothing waits to be put back,
    ///   or the copies are lost.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`, `lockTimeout`, `stateUnreadable`, `stateCorrupted`,
    ///   `stateFromNewerFormat`, `stateNotSaved` or `protectionFailed`. Nothing is lost then; call it again.
    public static func abandonRestore(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        let length = StateLocation.encodedLength(name)
        if length == 0 || length > StateLocation.nameLimit { throw .invalidName(name, length: length) }
        let folder =
            if let stateDirectory { stateDirectory } else { try DefaultLocation.directory(manager: name) }
        let directory = try DefaultLocation.absolute(folder, manager: name)
        let file = StateFile(location: StateLocation(name: name, directory: directory))
        // A first look without the lock: to take it would make its folder, also where there is nothing to give up.
        guard let found = try file.readState(), found.marks.hasLeftover else { return nil }
        let reporter = Reporter(location: file.location, onEvent: nil)
        let locked = try LockedState.take(file, reporter, timeout: lockTimeout, recovering: false)
        guard var state = locked.state, state.marks.hasLeftover, let interrupted = state.marks.interruption
        else { return nil }
        let kept: String?
        do throws(ProtectionFailure) {
            kept = try FileSnapshot(file.location, locked.lock).keep(interrupted)
        } catch {
            throw .protection(error, file.location, interrupted.version)
        }
        state.marks.interruption?.release()
        if let failure = locked.note(state) {
            throw locked.protection(failure, .abandoning, for: interrupted.version)
        }
        return kept
    }
}
