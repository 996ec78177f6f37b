extension MigrationManager {
    /// Gives up putting protected files back: they stay as they are, and their copies are kept.
    ///
    /// For a recovery screen, where every start throws `protectionFailed` because the files can't be put back, and what is in
    /// their way can't be mended. The copies move to a folder beside the state, which this library never touches again. The
    /// migration stays pending, and the next start runs its closure on the files as they are, with
    /// ``MigrationContext/isRetry``; the app can copy from that folder before.
    ///
    /// It works in every version of the app, and makes nothing where nothing waits to be put back. It waits for the lock, as
    /// long as it takes.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The path of the folder for the state, as for the manager.
    /// - Returns: The folder with the copies: `0/item` is what the first path of `protecting:` named, `1/item` the second,
    ///   of those that stood in no other; `0/absent` says that nothing was there. `nil` where nothing waits to be put back,
    ///   or the copies are lost.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `nested`, `stateUnreadable`, `stateCorrupted`,
    ///   `stateFromNewerFormat`, `stateNotSaved` or `protectionFailed`. Nothing is lost then; call it again.
    public static func abandonRestore(
        named name: String = "default",
        stateDirectory: String? = nil
    ) throws(MigrationError) -> String? {
        let length = StateLocation.encodedLength(name)
        if length == 0 || length > StateLocation.nameLimit { throw .invalidName(name, length: length) }
        let folder =
            if let stateDirectory { stateDirectory } else { try DefaultLocation.directory(manager: name) }
        let directory = try DefaultLocation.absolute(folder, manager: name)
        let file = StateFile(location: StateLocation(name: name, directory: directory))
        // Without the lock, which would make its folder, where there is nothing to give up.
        guard let found = try file.readState(), found.marks.hasLeftover else { return nil }
        let locked = LockedState(
            file,
            try FileLock.waiting(file.location, version: nil, options: Options()) { .now }
        )
        defer { locked.unlock() }
        guard var state = try locked.read(), let interrupted = state.marks.interrupted,
            state.marks.hasLeftover
        else { return nil }
        let kept = try FileSnapshot(file.location).keep(interrupted)
        state.marks.interrupted?.release()
        do throws(SaveFailure) {
            try locked.save(state)
        } catch {
            throw .protection(
                error.cause,
                file.location.state,
                file.location,
                interrupted.version,
                .abandoning
            )
        }
        return kept
    }
}

extension FileSnapshot {
    /// Moves the copies to a folder of their own, durably; gives that folder, or `nil` where there are no copies.
    ///
    /// The folder has its name from the interruption, so that a call that was killed before the state was saved is gone on
    /// with by the next one.
    fileprivate func keep(_ interrupted: Interruption) throws(MigrationError) -> String? {
        try explaining(interrupted.version, .abandoning) {
            var kept: String?
            var number = 1
            var next = location.kept(interrupted.startedAt, number)
            while try FileTree.status(next) != nil {
                kept = next
                number += 1
                next = location.kept(interrupted.startedAt, number)
            }
            if try FileTree.status(location.snapshot)?.kind == .directory {
                kept = next
                try FileTree.at(location.snapshot) { () throws(SystemCallError) in
                    try Platform.replace(next, with: location.snapshot)
                }
            }
            // Before the state forgets the copies: without a list they are rubbish at their old place.
            try FileTree.at(location.directory) { () throws(SystemCallError) in
                try Platform.synchronizeDirectory(location.directory)
            }
            return kept
        }
    }
}
