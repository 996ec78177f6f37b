extension MigrationManager {
    /// Removes copies of protected files that the state doesn't refer to.
    ///
    /// They are left if a process is killed after it has recorded a migration, and before it has removed the
    /// copies. The next process that takes the lock removes them. But a start in which nothing is pending
    /// takes no lock. Without this function, the copies would use up space until the next release.
    ///
    /// This function does nothing in two cases. If another process holds the lock, a later start removes the
    /// copies. If the state says that files have to be restored from the copies, the next start does that.
    ///
    /// It doesn't throw, because this start doesn't need the copies. If they can't be removed, it sends the
    /// event `leftoverNotRemoved`.
    func removeLeftoverCopies() {
        if location.isReadOnly { return }
        do {
            guard try location.existingSnapshot() != nil else { return }
            guard let lock = try FileLock.takeIfFree(at: location, tries: 1) else { return }
            let locked = try LockedState(lock, reporter: reporter, recovering: false)
            guard let versions = locked.state?.versions, !versions.awaitsRestore else { return }
            locked.discardSnapshot(of: versions.interruption?.version)
        } catch {
            var event = MigrationEvent(.leftoverNotRemoved, managerName: name, version: nil)
            event.error = location.protectionError(.cleaningUp, of: nil, because: error)
            reporter.send(event)
        }
    }
}
