extension MigrationDecision {
    /// The state to save where nothing runs; `nil` where it stands already.
    @inline(never)
    package func settling(
        _ state: MigrationState,
        _ version: AppVersion,
        minimumAppVersion: AppVersion,
        current: AppVersion
    ) -> MigrationState? {
        var next = state
        switch self {
        case .joinsBaseline:
            next.marks.baseline = version
            next.marks.raiseFloor(to: minimumAppVersion)
            next.marks.pass(version)
        case .alreadyRun where state.marks.lacksFloor(minimumAppVersion, current: current):
            next.marks.raiseFloor(to: minimumAppVersion)
        default: return nil
        }
        return next
    }

    /// What it means that such a state could not be saved.
    package var consequenceOfNotSaving: Message {
        @inline(never)
        get {
            if case .joinsBaseline = self { return "Nothing was run; the next start declares it again." }
            return "Which app may use the data was not noted; the next start does it."
        }
    }
}
