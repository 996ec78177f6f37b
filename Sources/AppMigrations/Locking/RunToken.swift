/// Marks code of the app that runs inside a closure, a plan or an event handler of a manager.
///
/// If that code ran a migration of the same state, the call would deadlock. So the call is refused.
///
/// The token is bound to the task, or to the thread if there is no task. It ends with the closure: an
/// unstructured `Task` that outlives the closure inherits a token that no longer counts.
package final class RunToken: Sendable {
    /// The tokens of the calling code, the innermost first.
    ///
    /// Only set this to a token's ``openTokens``, which leaves out ended tokens. Otherwise a task that starts
    /// one plan after the other would collect more and more ended tokens.
    @TaskLocal package static var current: [RunToken] = []

    /// True if this token marks a plan and not a closure.
    ///
    /// A plan runs no migration. So a call that is refused inside of a plan doesn't close its manager: no
    /// migration was missed that later ones depend on.
    package let isPlan: Bool

    private let location: StateLocation

    private let isOpen = Guarded(true)

    package init(_ location: StateLocation, isPlan: Bool = false) {
        self.location = location
        self.isPlan = isPlan
    }

    package func end() { isOpen.withLock { $0 = false } }

    /// This token, and the tokens of the calling code that have not ended.
    package var openTokens: [RunToken] { [self] + Self.currentOpenTokens }

    private static var currentOpenTokens: [RunToken] { current.filter { $0.isOpen.withLock { $0 } } }

    /// The token of the closure, plan or handler of that state in which the caller runs; `nil` outside of
    /// one.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`.
    package static func enclosing(_ location: StateLocation) throws(MigrationError) -> RunToken? {
        do throws(SystemCallError) {
            for token in currentOpenTokens where try token.isOfState(location) { return token }
            return nil
        } catch {
            throw .unreadable(error, at: location)
        }
    }

    private func isOfState(_ location: StateLocation) throws(SystemCallError) -> Bool {
        if self.location.name != location.name { return false }
        if FilePaths.isSame(self.location.directory, location.directory) { return true }
        // The identity of the folder shows that two paths lead to the same state. A state that is kept in a
        // database has no folder.
        guard self.location.path != nil, location.path != nil,
            let folder = try Platform.identity(ofFolder: self.location.directory)
        else { return false }
        return try Platform.identity(ofFolder: location.directory) == folder
    }

    /// Calls code of the app as if a closure of that state were running.
    ///
    /// A handler that declares a migration of this state would deadlock. Or its wait would send an event,
    /// which calls the handler again.
    static func marking<Value>(_ location: StateLocation, _ body: () throws -> Value) rethrows -> Value {
        let token = RunToken(location)
        defer { token.end() }
        return try $current.withValue(token.openTokens, operation: body)
    }
}
