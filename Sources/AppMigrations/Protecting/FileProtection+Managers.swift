/// What other managers have to do with protected files: put back under them, their records would be wrong.
extension FileProtection {
    /// Refuses a tree that holds the state of a manager.
    ///
    /// Put back to what it was, it would let that manager's migrations run twice.
    static func refuseState(
        _ entry: String,
        in path: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) {
        guard entry.utf8.reversed().starts(with: StateLocation.suffix.description.utf8.reversed()) else {
            return
        }
        throw .unprotectable(path, "the state of a manager is in it, \(entry)", location, version)
    }

    /// Refuses what another manager of the same folder has copied and may put back yet.
    ///
    /// A migration over it would be recorded here and undone there: its manager died, and wasn't made since, or its closure
    /// is running.
    func refuseUnfinished(_ location: StateLocation, _ version: AppVersion) throws(MigrationError) {
        for name in try Self.namesOfSnapshots(location, version)
        where !name.utf8.elementsEqual(location.name.utf8) {
            let other = StateLocation(name: name, directory: location.directory)
            guard let interrupted = try Self.interruption(of: other, location, version) else { continue }
            for copied in interrupted.protected.map({ FilePaths.absolute($0, from: stateFolder) }) {
                guard
                    let path = canonicals.first(where: {
                        FilePaths.contains($0, copied) || FilePaths.contains(copied, $0)
                    })
                else { continue }
                let reason: Message =
                    """
                    manager \(name.quoted) has copied \(copied) for its migration \
                    \(interrupted.version), which has not ended: make that manager first
                    """
                throw .unprotectable(path, reason, location, version)
            }
        }
    }

    private static func interruption(
        of other: StateLocation,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> Interruption? {
        do throws(MigrationError) {
            return try StateFile(location: other).readState()?.marks.interrupted
        } catch {
            // Unread, its list can't be held against ours.
            throw .protection(error, other.state, location, version, .taking)
        }
    }

    private static func namesOfSnapshots(
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> [String] {
        let suffix = StateLocation.snapshotSuffix
        let names: [String]
        do throws(SystemCallError) {
            names = try Platform.names(in: location.directory)
        } catch {
            throw .protection(error, location.directory, location, version, .taking)
        }
        return names.filter { $0.hasSuffix(suffix) }.map {
            let stem = String($0.dropLast(suffix.count))
            return PercentEncoding.decoded(stem) ?? stem
        }
    }
}
