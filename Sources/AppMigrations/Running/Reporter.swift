/// Sends the events of a manager to the app, and has the hook of a rehearsal.
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

    /// Calls the handler of the app.
    ///
    /// If the handler declared a migration of the same state, it would wait for itself. It gets the error
    /// `nested` instead.
    func send(_ event: MigrationEvent) {
        guard let onEvent else { return }
        RunToken.marking(location) { onEvent(event) }
    }
}
