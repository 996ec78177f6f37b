extension MigrationManager {
    /// Saves that the first start of a fresh install has processed all of its declarations.
    ///
    /// If a sub-migration (such as `1.4-2`) is added to the same release later, it runs on this install too.
    ///
    /// It is called when the manager is released. So it doesn't wait, and throws nothing. If the lock isn't
    /// free or the save fails, the next start that processes all of its declarations does this instead. It
    /// restores no files, and makes no new state if the state is gone.
    func endFreshInstall() {
        if location.isReadOnly { return }
        do throws(MigrationError) {
            guard try file.readVersions()?.isFreshInstall(of: currentVersion) == true else { return }
            guard let lock = try FileLock.takeIfFree(at: location, tries: 1) else { return }
            let locked = try LockedState(lock, reporter: Reporter(location), recovering: false)
            guard let state = locked.state, state.versions.isFreshInstall(of: currentVersion) else { return }
            try locked.save(state.endingFreshInstall())
        } catch {
            // Nothing is lost by this error: the state keeps its mark, and a later start tries again.
        }
    }
}
