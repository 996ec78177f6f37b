extension MigrationManager {
    /// Saves in the state that the first start of a fresh install is over: the app has declared its
    /// migrations.
    ///
    /// A fresh install doesn't run the sub-migrations (such as `1.4-2`) of its own release. After this save,
    /// a sub-migration that is added to that release later runs on this install too.
    ///
    /// The manager calls this function when it is released (`deinit`). So this function doesn't wait and
    /// doesn't throw. If the lock isn't free or the save fails, a later start of the same release does the
    /// save. If the state was removed, this function doesn't create a new one.
    func endFreshInstall() {
        if options.isReadOnly { return }
        do throws(MigrationError) {
            guard try file.readVersions()?.isFreshInstall(of: currentVersion) == true else { return }
            guard let lock = try FileLock.takeIfFree(at: location) else { return }
            var locked = try LockedState(lock, at: location)
            guard let state = locked.state, state.versions.isFreshInstall(of: currentVersion) else { return }
            // If the save fails, a later start tries again.
            _ = locked.save(state.changed { $0.versions.freshInstall = nil })
        } catch {
            // This error does no harm: the state still says that this is a fresh install, and a later start
            // tries again.
        }
    }
}
