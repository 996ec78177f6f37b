extension MigrationManager {
    /// How a start relates to the last one.
    public enum Launch: Sendable, Equatable {
        /// There was no state.
        case first

        /// The same version was started before.
        case same

        /// An older version was started before.
        case upgrade(from: AppVersion)

        /// A newer version was started, or ran migrations, before: nothing runs.
        case downgrade(from: AppVersion)
    }
}

extension StateMarks {
    /// How a start of `current` relates to the last one.
    package func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(above: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}
