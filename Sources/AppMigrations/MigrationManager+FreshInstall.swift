extension MigrationManager {
    /// Saves that a first start of a fresh install got through its declarations: what is added to its release later will run.
    ///
    /// It is called when the manager is released. So it doesn't wait and throws nothing: if the lock isn't free, or the save fails,
    /// the next start that gets through does it. It puts no files back and makes nothing where the state is gone.
    func endFreshInstall() {
        if file.location.isReadOnly { return }
        do throws(MigrationError) {
            guard let marks = try file.readMarks(), marks.isFreshInstall(of: currentVersion) else { return }
            guard let lock = try FileLock.ifFree(file.location, tries: 1) else { return }
            let locked = try LockedState(lock, Reporter(file.location), recovering: false)
            guard let state = locked.state, state.marks.isFreshInstall(of: currentVersion) else { return }
            try locked.save(state.endingFreshInstall())
        } catch {
            // The fresh install goes on until the next start.
        }
    }
}
