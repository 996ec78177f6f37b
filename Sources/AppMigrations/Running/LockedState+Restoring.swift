/// Protected files under the lock: put back, and their copies removed.
extension LockedState {
    /// Moves copies aside that stand there before the first state, which was lost.
    ///
    /// They may be the only good ones, and beside a state that doesn't ask for them they would be removed. Where they can be
    /// neither moved nor marked they stay, and the first save reports the error of the folder.
    func keepUnlisted() {
        do throws(SystemCallError) {
            guard let kept = try SavedFiles(location, for: nil).keep(from: Platform.now) else { return }
            tell(.kept(kept, "without a state", location), nil)
        } catch {
            tell(location.protection(.clearing, nil, error), nil)
        }
    }

    /// Tells of copies that nothing asks for and that are still there.
    private func tell(_ error: MigrationError, _ version: AppVersion?) {
        let name = location.name
        send(MigrationEvent(kind: .leftoverNotRemoved, managerName: name, version: version, error: error))
    }

    /// Puts files back, if the lock is the one at its path.
    func restore(_ version: AppVersion) throws(MigrationError) {
        do throws(MigrationError) {
            try confirm()
        } catch {
            throw location.protection(.restoring, version, after: error)
        }
        do {
            try SavedFiles(location, for: version).putBack()
        } catch {
            throw location.protection(.restoring, version, error)
        }
    }

    /// Saves that files were put back, and only then removes their copies.
    ///
    /// While the state asks for them, the next start looks again for what is left to be put back.
    func finishRestore(_ restored: MigrationState) throws(MigrationError) {
        var next = restored
        let version = next.marks.interruption?.version
        next.marks.interruption?.isProtecting = false
        var failure = note(next)
        if failure != nil, !isLost, !isUncertain {
            do throws(SystemCallError) {
                // Files that the restore set aside can be what fills the disk, and nothing needs them any more.
                try SavedFiles(location, for: version).removeSetAside()
                failure = note(next)
            } catch {
                // The failure of the save is the one to tell.
            }
        }
        if let failure { throw location.protection(.noting, version, after: failure) }
        // The event comes after the save: until then a start waits for this thread, and the handler may wait for that start.
        send(MigrationEvent(.restored, location.name, version: version))
        discardSnapshot(version)
    }

    /// Removes a snapshot that no state asks for.
    func discardSnapshot(_ version: AppVersion?) {
        do {
            let files = try SavedFiles(location, for: version)
            try confirm()
            guard let kept = try files.discard() else { return }
            tell(.kept(kept, "with the state of another manager", location), version)
        } catch {
            tell(location.protection(.clearing, version, error), version)
        }
    }
}
