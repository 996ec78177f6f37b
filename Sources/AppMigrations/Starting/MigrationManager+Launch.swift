extension MigrationManager {
    /// How a start relates to the starts before it.
    public enum Launch: Sendable, Equatable {
        /// There was no state.
        case first

        /// This version was started before.
        case same

        /// An older version was started before.
        case upgrade(from: AppVersion)

        /// A newer version was started, or ran migrations, before.
        ///
        /// It is information for the app, which can show it or stop. It has no effect on migrations: a
        /// pending one runs, unless the newer version has begun to change the data beyond this version. Then
        /// its declaration throws `usedByNewerApp`.
        case downgrade(from: AppVersion)
    }
}

extension StateMarks {
    package func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(above: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}
