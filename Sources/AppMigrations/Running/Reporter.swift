/// Sends a manager's events to the app.
///
/// Also keeps the rehearsal hook, if there is one.
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
    /// A handler that declares a migration of the same state would deadlock. So that call throws the error
    /// `nested`.
    func send(_ event: MigrationEvent) {
        guard let onEvent else { return }
        RunToken.marking(location) { onEvent(event) }
    }
}
