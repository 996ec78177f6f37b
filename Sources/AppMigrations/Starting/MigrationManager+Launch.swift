extension MigrationManager {
    /// How this start compares with earlier starts of the app.
    public enum Launch: Sendable, Equatable {
        /// There was no state, so this is the first start with this library.
        ///
        /// It doesn't say that the user is new. Users who update to your first release with this library get
        /// it too, and so do users whose state was lost. In another app, code for the first launch removed
        /// the keychain items of everybody who updated. So before you remove anything, or welcome a new user,
        /// look whether there is data, as `firstRun:` does.
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
