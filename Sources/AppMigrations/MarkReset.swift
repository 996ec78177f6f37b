/// Sets the mark of a state, where the app may.
package struct MarkReset {
    package let version: AppVersion
    private let current: AppVersion
    private let location: StateLocation

    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package init(
        to text: String,
        current: AppVersion,
        _ options: MigrationManager.Options,
        _ location: StateLocation
    ) throws(MigrationError) {
        version = try MigrationManager.version(text, location.name)
        self.current = current
        self.location = location
        if version.exceeds(current) { throw .tooNewReset(version, current: current, location) }
        let earliest = try options.earliestUpgrade(to: current, location)
        if version < earliest, version != .zero {
            throw .tooOld(version, earliest, current: current, location, "The mark was not set.")
        }
    }

    /// - Throws: ``MigrationError`` with the code `overtaken`.
    package func applied(to state: MigrationState) throws(MigrationError) -> MigrationState {
        var state = state
        let floor = state.marks.minimumAppVersion
        if floor.exceeds(current) { throw .resetBelowFloor(floor, current: current, location) }
        state.marks = StateMarks(
            lastRun: version,
            baseline: version,
            launched: current,
            minimumAppVersion: floor
        )
        return state
    }
}
