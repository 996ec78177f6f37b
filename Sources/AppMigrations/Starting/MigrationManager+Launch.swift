extension MigrationManager {
    /// How this start compares with earlier starts of the app.
    public enum Launch: Sendable, Equatable {
        /// There was no state, so this is the first start.
        case first

        /// The newest version that was started before is this version.
        case same

        /// The newest version that was started before is older than this version.
        case upgrade(from: AppVersion)

        /// A newer version was started, or ran migrations, before.
        ///
        /// This is information for the app, which can show a message or stop. By itself it doesn't affect
        /// migrations. A pending migration still runs, unless the newer version has begun a migration that
        /// is newer than this app. In that case, the declaration of the pending migration throws
        /// `usedByNewerApp`.
        case downgrade(from: AppVersion)
    }
}

extension StateVersions {
    package func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(asSeenBy: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}
