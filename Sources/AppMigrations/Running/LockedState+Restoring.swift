/// Protected files under the lock: put back, and their copies removed.
extension LockedState {
    /// Moves copies aside that stand there before the first state, which was lost.
    ///
    /// They may be the only good ones, and beside a state that doesn't ask for them they would be removed. Where they can be
    /// neither moved nor marked they stay, and the first save reports the error of the folder.
    func keepUnlisted() { clear(nil, "without a state") { try $0.keep(from: Platform.now) } }

    /// Tells of copies that nothing asks for, where they are still there.
    private func clear(_ version: AppVersion?, _ how: Message, _ body: (SavedFiles) throws -> String?) {
        var event = MigrationEvent(.leftoverNotRemoved, location.name, version: version)
        do {
            guard let kept = try body(SavedFiles(location, for: version)) else { return }
            let text: Message = """
                Copies of files that a migration of manager \(location.name.quoted) protected were found \(how). They are kept in \
                \(kept), and this library puts nothing of them back and removes nothing. Compare them with the data, then remove the \
                folder.
                """
            event.error = location.error(.protectionFailed, at: kept, text)
        } catch {
            event.error = location.protection(.clearing, version, error)
        }
        send(event)
    }

    /// Puts files back, if the lock is the one at its path.
    func restore(_ version: AppVersion) throws(MigrationError) {
        do {
            try confirm()
            try SavedFiles(location, for: version).putBack()
        } catch {
            throw location.protection(.restoring, version, error)
        }
    }

    /// Saves that files were put back, and only then removes their copies.
    ///
    /// While the state asks for them, the next start looks again for what is left to be put back.
    func finishRestore(_ restored: MigrationState) throws(MigrationError) {
        let (next, version) = (restored.unprotected(), restored.marks.interruption?.version)
        if let failure = note(next) { throw location.protection(.noting, version, failure) }
        // The event comes after the save: until then a start waits for this thread, and the handler may wait for that start.
        send(MigrationEvent(.restored, location.name, version: version))
        discardSnapshot(version)
    }

    func discardSnapshot(_ version: AppVersion?) {
        clear(version, "with the state of another manager") { files in
            try confirm()
            return try files.discard()
        }
    }
}
