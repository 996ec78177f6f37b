/// What other managers have to do with protected files: if those were put back under them, their records would be wrong.
extension FileProtection {
    /// Refuses a tree that holds the state of a manager.
    ///
    /// A restore would put that state back too, and the manager's migrations would run twice.
    static func refuseState(_ entry: String, in path: String) throws(ProtectionFailure) {
        guard entry.utf8.reversed().starts(with: StateLocation.suffix.description.utf8.reversed()) else {
            return
        }
        throw .unprotectable(path, "the state of a manager is in it, \(entry)")
    }

    /// Refuses what another manager of the same folder has copied and may put back yet.
    ///
    /// A migration over those files would be recorded here, and the other manager would undo it: that manager's closure is
    /// running, or its process died and no start has put the files back yet.
    func refuseUnfinished() throws(ProtectionFailure) {
        for name in try namesOfSnapshots() where !name.utf8.elementsEqual(location.name.utf8) {
            let other = StateLocation(name: name, directory: location.directory)
            guard let interrupted = try interruption(of: other) else { continue }
            for copied in interrupted.protected.map({ FilePaths.absolute($0, from: stateFolder) }) {
                guard
                    let path = paths.first(where: {
                        FilePaths.contains($0.canonical, copied) || FilePaths.contains(copied, $0.canonical)
                    })
                else { continue }
                let reason: Message =
                    """
                    manager \(name.quoted) has copied \(copied) for its migration \
                    \(interrupted.version), which has not ended: make that manager first
                    """
                throw .unprotectable(path.canonical, reason)
            }
        }
    }

    private func interruption(of other: StateLocation) throws(ProtectionFailure) -> Interruption? {
        do throws(MigrationError) {
            return try StateFile(location: other).readState()?.marks.interruption
        } catch {
            // Without the other manager's list it can't be told whether the two share files.
            throw .failed(error, other.state, .taking)
        }
    }

    private func namesOfSnapshots() throws(ProtectionFailure) -> [String] {
        let suffix = StateLocation.snapshotSuffix
        let names: [String]
        do throws(SystemCallError) {
            names = try Platform.names(in: location.directory)
        } catch {
            throw .failed(error, location.directory, .taking)
        }
        return names.filter { $0.hasSuffix(suffix) }.map {
            let stem = String($0.dropLast(suffix.count))
            return PercentEncoding.decoded(stem) ?? stem
        }
    }
}
