/// Tells the app what a manager does, and a rehearsal at which moments its process could die.
struct Reporter: Sendable {
    let location: StateLocation
    let onEvent: (@Sendable (MigrationEvent) -> Void)?
    var rehearsal: RehearsalHook?

    /// `lock` is the lock's file where the lock is held.
    ///
    /// A handler that declared a migration of the same state would wait for itself; it gets `nested` instead.
    func send(_ event: MigrationEvent, lock: FileIdentity? = nil) {
        guard let onEvent else { return }
        RunToken.marking(location, lock: lock) { onEvent(event) }
    }

    func reach(_ place: RehearsalHook.Moment.Place, _ version: AppVersion, isProtecting: Bool) {
        rehearsal?.reached(RehearsalHook.Moment(place: place, version: version, isProtecting: isProtecting))
    }
}
