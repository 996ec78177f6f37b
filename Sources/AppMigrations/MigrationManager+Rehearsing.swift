extension MigrationManager {
    /// A manager that goes on from where `manager` is, and tells `hook` each step.
    package convenience init(rehearsing manager: MigrationManager, with hook: RehearsalHook) {
        let declarations = manager.declarations.withLock { Declarations(observedFrom: $0) }
        self.init(like: manager, for: Observer(rehearsal: hook), declarations)
    }

    /// The failure that closed the manager, also where the app's own code swallowed it.
    package var firstFailure: MigrationError? { declarations.withLock { $0.firstFailure } }

    /// Asks the hook, if there is one, whether a declaration is to be decided about.
    func isRehearsed(_ version: AppVersion) throws(MigrationError) -> Bool {
        switch observer?.rehearsal?.declared(version) ?? .continue {
        case .continue: return true
        case .passOver: return false
        case .stop:
            let error = MigrationError.newer(version, current: currentVersion, file.location)
            throw declarations.withLock { $0.closing(error, file.location) }
        }
    }
}
