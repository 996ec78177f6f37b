/// Marks code of the app that runs inside a closure, a plan or an event handler of a manager.
///
/// If that code ran a migration of the same state, the call would wait for itself. So the call is refused.
///
/// A token belongs to the task that runs the code, or to the thread if there is no task. It ends with the
/// closure, the plan or the handler. An unstructured `Task` that the code has started inherits the token, and
/// may run longer: after the token has ended, calls of that task aren't refused.
package final class RunToken: Sendable {
    /// The tokens of the calling code, the innermost first.
    ///
    /// Only set this to a token's ``openTokens``, which doesn't contain ended tokens. Otherwise a task that
    /// starts one plan after the other would collect more and more ended tokens.
    @TaskLocal package static var current: [RunToken] = []

    /// True if this token marks a plan and not a closure.
    ///
    /// If a call is refused inside a closure, its manager is closed, so that no later migration runs without
    /// the refused one. A plan runs no migration, so a call that is refused inside a plan closes no manager.
    package let isPlan: Bool

    /// True if this token marks the closure of `withLock`.
    ///
    /// This process holds the lock then, so no process is running a migration.
    let isWithLock: Bool

    private let location: StateLocation

    private let isOpen = Guarded(true)

    package init(_ location: StateLocation, isPlan: Bool = false, isWithLock: Bool = false) {
        self.location = location
        self.isPlan = isPlan
        self.isWithLock = isWithLock
    }

    package func end() { isOpen.withLock { $0 = false } }

    /// This token, and the tokens of the calling code that have not ended.
    package var openTokens: [RunToken] { [self] + Self.currentOpenTokens }

    private static var currentOpenTokens: [RunToken] { current.filter { $0.isOpen.withLock { $0 } } }

    /// The token of the closure, plan or handler of the state at `location` in which the caller runs; `nil`
    /// if the caller runs in none.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`.
    package static func enclosing(_ location: StateLocation) throws(MigrationError) -> RunToken? {
        try first(in: currentOpenTokens, of: location)
    }

    /// True if the caller runs in the closure of `withLock` of the state at `location`.
    static func isInWithLock(_ location: StateLocation) throws(MigrationError) -> Bool {
        try first(in: currentOpenTokens.filter(\.isWithLock), of: location) != nil
    }

    private static func first(
        in tokens: [RunToken],
        of location: StateLocation
    ) throws(MigrationError) -> RunToken? {
        do throws(SystemCallError) {
            for token in tokens where try token.isOfState(location) { return token }
            return nil
        } catch {
            throw .unreadable(error, at: location)
        }
    }

    private func isOfState(_ location: StateLocation) throws(SystemCallError) -> Bool {
        if self.location.name != location.name { return false }
        if FilePaths.isSame(self.location.directory, location.directory) { return true }
        // Two paths may lead to the same folder, so the identities of the folders are compared. A state that
        // is kept in a database has no folder.
        guard self.location.path != nil, location.path != nil,
            let folder = try Platform.identity(ofFolder: self.location.directory)
        else { return false }
        return try Platform.identity(ofFolder: location.directory) == folder
    }

    /// Calls code of the app, and marks it with a token of the state while it runs.
    ///
    /// The code is an event handler, the `firstRun:` expression, the closure of `withLock`, or an
    /// ``OtherRecord``. If it declared a migration of the same state, the declaration would wait for the end
    /// of this code, which waits for the declaration. With the token, the declaration throws `nested`
    /// instead.
    static func withToken<Value>(
        of location: StateLocation,
        isWithLock: Bool = false,
        _ body: () throws -> Value
    ) rethrows -> Value {
        let token = RunToken(location, isWithLock: isWithLock)
        defer { token.end() }
        return try $current.withValue(token.openTokens, operation: body)
    }
}

extension StateLocation {
    /// Calls the app's event handler.
    ///
    /// If the handler declared a migration of this state, the declaration would deadlock. So such a
    /// declaration throws `nested`.
    func send(_ event: MigrationEvent, to onEvent: (@Sendable (MigrationEvent) -> Void)?) {
        guard let onEvent else { return }
        RunToken.withToken(of: self) { onEvent(event) }
    }

    /// Calls the app's event handler with an event that isn't about an attempt.
    func send(
        _ kind: MigrationEvent.Kind,
        of version: AppVersion?,
        note: String? = nil,
        error: MigrationError? = nil,
        to onEvent: (@Sendable (MigrationEvent) -> Void)?
    ) {
        var event = MigrationEvent(kind, managerName: name, version: version)
        event.note = note
        event.error = error
        send(event, to: onEvent)
    }
}
