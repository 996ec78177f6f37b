/// Sends a manager's events to the app, and keeps the hook of a rehearsal, if there is one.
final class Reporter: Sendable {
    let location: StateLocation
    let rehearsal: (any RehearsalHook)?
    private let onEvent: (@Sendable (MigrationEvent) -> Void)?

    init(
        _ location: StateLocation,
        onEvent: (@Sendable (MigrationEvent) -> Void)? = nil,
        rehearsal: (any RehearsalHook)? = nil
    ) {
        self.location = location
        self.rehearsal = rehearsal
        self.onEvent = onEvent
    }

    /// Calls the app's event handler.
    ///
    /// If the handler declared a migration of this state, the declaration would deadlock. So such a
    /// declaration throws `nested`.
    func send(_ event: MigrationEvent) {
        guard let onEvent else { return }
        RunToken.withToken(of: location) { onEvent(event) }
    }
}
