/// Sends a manager's events to the app.
///
/// It also stores two values for the code that runs a migration: the hook of a rehearsal, if there is one,
/// and whether a restore keeps the files that it replaces.
final class Reporter: Sendable {
    let location: StateLocation
    let rehearsal: (any RehearsalHook)?

    /// The manager's option ``MigrationManager/Options/keepsReplacedFiles``.
    let keepsReplacedFiles: Bool

    private let onEvent: (@Sendable (MigrationEvent) -> Void)?

    init(
        _ location: StateLocation,
        keepsReplacedFiles: Bool = false,
        onEvent: (@Sendable (MigrationEvent) -> Void)? = nil,
        rehearsal: (any RehearsalHook)? = nil
    ) {
        self.location = location
        self.keepsReplacedFiles = keepsReplacedFiles
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
