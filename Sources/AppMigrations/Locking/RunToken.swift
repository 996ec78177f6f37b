/// Marks the code that a manager's closure, its plan or its handler is running, so that a manager of the same state used
/// inside is refused instead of waiting for itself.
///
/// It is bound to the task, or to the thread where there is none, and ends with the closure: an unstructured `Task`
/// that outlives it inherits a token that no longer counts.
package final class RunToken: Sendable {
    /// The tokens of the code inside of which the caller stands, the inmost first.
    ///
    /// They are bound with ``opened`` alone: a task that outlives one plan and begins the next keeps no chain of them alive.
    @TaskLocal package static var current: [RunToken] = []

    /// True if a plan is running, and no closure: nothing runs in a plan that a later declaration could pass over.
    package let isPlan: Bool

    private let location: StateLocation

    private let isOpen = Guarded(true)

    package init(_ location: StateLocation, isPlan: Bool = false) {
        self.location = location
        self.isPlan = isPlan
    }

    package func end() { isOpen.withLock { $0 = false } }

    /// This token and those inside of which its code begins.
    package var opened: [RunToken] { [self] + Self.stillOpen }

    private static var stillOpen: [RunToken] { current.filter { $0.isOpen.withLock { $0 } } }

    /// The token of the closure or plan of that state inside of which the caller stands.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`.
    package static func enclosing(_ location: StateLocation) throws(MigrationError) -> RunToken? {
        do throws(SystemCallError) {
            for token in stillOpen where try token.isOfState(location) { return token }
            return nil
        } catch {
            throw .unreadable(error, at: location)
        }
    }

    private func isOfState(_ location: StateLocation) throws(SystemCallError) -> Bool {
        if self.location.name != location.name { return false }
        if FilePaths.isSame(self.location.directory, location.directory) { return true }
        // The folder tells the state when it is opened under another path; a state in a store has none.
        guard self.location.path != nil, location.path != nil,
            let folder = try Platform.identity(ofFolder: self.location.directory)
        else { return false }
        return try Platform.identity(ofFolder: location.directory) == folder
    }

    /// Calls code of the app as if a closure of that state were running.
    ///
    /// A handler that declared a migration of the state would wait for itself, or be called again by its own wait.
    static func marking<Value>(_ location: StateLocation, _ body: () throws -> Value) rethrows -> Value {
        let token = RunToken(location)
        defer { token.end() }
        return try $current.withValue(token.opened, operation: body)
    }
}
