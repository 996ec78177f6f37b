/// Files that two managers of one directory protect: if one put them back under the other, the other's record would be wrong.
extension Snapshot {
    /// Another manager whose list has some of the files.
    private struct Rival {
        let location: StateLocation
        let place: String
        /// Whether a process is at work on it; otherwise its files wait to be put back.
        let isRunning: Bool
    }

    /// How long to wait for another manager that has listed some of the same files; `nil` where none has, so that copying may begin.
    ///
    /// Of two that list at once at least one finds the other's list, since each makes its own durable before it looks. The one whose name
    /// sorts first waits until the other's list went, and the other takes its own back: never are both refused.
    func pauseForOthers(
        waited: Duration,
        timeout: Duration?,
        isAsynchronous: Bool
    ) throws -> Duration? {
        do {
            guard let rival = try rival() else { return nil }
            let isFirst = location.name.utf8.lexicographicallyPrecedes(rival.location.name.utf8)
            guard isFirst, rival.isRunning, try mayWait(for: rival, isAsynchronous) else {
                throw refusal(rival)
            }
            if Task.isCancelled { throw CancellationError() }
            guard let timeout else { return .milliseconds(5) }
            let left = timeout - waited
            if left <= .zero { throw timedOut(timeout, rival) }
            return min(left, .milliseconds(5))
        } catch {
            throw takingBack(error)
        }
    }

    private func rival() throws -> Rival? {
        var reached: Set<FileIdentity> = []
        for path in paths { reached.formUnion(try Self.identities(path)) }
        for name in try Platform.names(in: stateFolder) where name.contains(StateLocation.snapshotSuffix) {
            let folder = (stateFolder == "/" ? "" : stateFolder) + "/" + name
            // What was given up, or found beside a lost state, is nobody's any more.
            if try Platform.status(folder + "/" + StateLocation.keptMark) != nil { continue }
            guard let list = try SnapshotList.read(in: folder),
                !list.manager.utf8.elementsEqual(location.name.utf8),
                let place = try shared(list, reached)
            else { continue }
            let other = StateLocation(name: list.manager, directory: location.directory)
            // The lock first: a list that is found free was let go by a closure that has ended, whose state is read after that.
            if try ListLock.isTaken(in: folder) {
                return Rival(location: other, place: place, isRunning: true)
            }
            if try StateFile(location: other).readState()?.marks.hasLeftover == true {
                // Between the closure's end and the record the process still has the state's lock.
                let isRunning = try FileLock.isTaken(other)
                return Rival(location: other, place: place, isRunning: isRunning)
            }
        }
        return nil
    }

    /// The first place of the list that holds one of these paths, or lies in one, by whatever name.
    private func shared(_ list: SnapshotList, _ reached: Set<FileIdentity>) throws(SystemCallError) -> String?
    {
        for (entry, place) in zip(list.paths, list.places(from: stateFolder)) {
            if paths.contains(where: { FilePaths.contains($0, place) || FilePaths.contains(place, $0) }) {
                return place
            }
            if let identity = entry.identity, reached.contains(identity) { return place }
            let above = try Self.identities(place)
            for path in paths {
                if let identity = try Platform.status(path)?.identity, above.contains(identity) {
                    return place
                }
            }
        }
        return nil
    }

    /// What stands at a path, and the folders above it: a bind mount, or a disk that takes capitals for small letters, gives a file a
    /// second name.
    static func identities(_ path: String) throws(SystemCallError) -> Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        var path = path
        while path != "/" {
            if let found = try Platform.status(path) { identities.insert(found.identity) }
            path = FilePaths.parent(path)
        }
        return identities
    }

    /// Whether a folder is what stands at a path, or lies in it.
    static func holds(_ path: String, _ folder: String) throws(SystemCallError) -> Bool {
        if FilePaths.contains(path, folder) { return true }
        guard let status = try Platform.status(path), status.kind == .directory else { return false }
        return try identities(folder).contains(status.identity)
    }

    /// Whether the other closure can end while this call waits.
    private func mayWait(for rival: Rival, _ isAsynchronous: Bool) throws(SystemCallError) -> Bool {
        guard let lock = try Platform.status(rival.location.lock)?.identity else { return false }
        if try RunToken.enclosing(rival.location, lock: lock) != nil { return false }
        // An asynchronous closure may need this very thread to go on.
        return isAsynchronous || !FileLock.isHeldAsynchronously(lock)
    }

    private func refusal(_ rival: Rival) -> MigrationError {
        let name = rival.location.name.quoted
        let reason: Message =
            rival.isRunning
            ? "manager \(name) has listed \(rival.place) for its migration, which is running: start again when it has ended"
            : """
            manager \(name) has copied \(rival.place) for a migration that has not ended: make that manager first, or give its \
            files up with MigrationManager.abandonRestore(named: \(name))
            """
        return location.protection(.taking, version, at: rival.place, reason)
    }

    private func timedOut(_ timeout: Duration, _ rival: Rival) -> MigrationError {
        MigrationError(
            .lockTimeout,
            manager: location.name,
            version: version,
            path: rival.place,
            """
            Manager \(location.name.quoted) waited \(timeout.description) for manager \(rival.location.name.quoted), whose migration \
            protects \(rival.place) too. Nothing was run and the state is unchanged. Let that migration finish and start again.
            """
        )
    }
}
