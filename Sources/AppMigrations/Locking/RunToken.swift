/// Marks the code that a manager's closure, its plan or its handler is running, so that a manager of the same state used
/// inside is refused instead of waiting for itself.
///
/// It is bound to the task, or to the thread where there is none, and ends with the closure: an unstructured `Task`
/// that outlives it inherits a token that no longer counts.
package final class RunToken: Sendable {
    @TaskLocal package static var current: RunToken?

    /// True if a plan is running, and no closure: nothing runs in a plan that a later declaration could pass over.
    package let isPlan: Bool

    private let location: StateLocation

    /// The state's folder, which tells the state when it is opened under another path; `nil` where there is none yet.
    private let folder: FileIdentity?

    private struct Progress {
        var isOpen = true
        /// The tokens inside which this one began, the inmost first.
        ///
        /// At its end a token keeps only those that are open still: where a task outlives one plan and begins the next,
        /// the last one would keep all of them alive.
        var outer: [RunToken]
    }

    private let progress: Guarded<Progress>

    package init(_ location: StateLocation, isPlan: Bool = false) {
        self.location = location
        self.isPlan = isPlan
        var folder: FileIdentity?
        do throws(SystemCallError) {
            if location.path != nil { folder = try Platform.identity(ofFolder: location.directory) }
        } catch {
            // Whoever asks for the same state under another path can't look at its folder either.
        }
        self.folder = folder
        progress = Guarded(Progress(outer: RunToken.current?.openTokens ?? []))
    }

    package func end() {
        let open = progress.withLock { $0.outer }.filter(\.isOpen)
        progress.withLock { $0 = Progress(isOpen: false, outer: open) }
    }

    private var isOpen: Bool { progress.withLock { $0.isOpen } }

    private var openTokens: [RunToken] { ([self] + progress.withLock { $0.outer }).filter(\.isOpen) }

    /// The token of the closure or plan of that state inside of which the caller stands.
    package static func enclosing(_ location: StateLocation) throws(SystemCallError) -> RunToken? {
        guard let current else { return nil }
        for token in current.openTokens {
            if try token.isOfState(location) { return token }
        }
        return nil
    }

    /// Compares name and place alone, which are all that a state in a store is known by.
    package static func enclosing(exactly location: StateLocation) -> RunToken? {
        current?.openTokens.first { $0.isExactly(location) }
    }

    private func isExactly(_ location: StateLocation) -> Bool {
        self.location.name == location.name
            && self.location.directory.utf8.elementsEqual(location.directory.utf8)
    }

    private func isOfState(_ location: StateLocation) throws(SystemCallError) -> Bool {
        if isExactly(location) { return true }
        guard self.location.name == location.name, let folder else { return false }
        return try Platform.identity(ofFolder: location.directory) == folder
    }

    /// Calls code of the app as if a closure of that state were running.
    ///
    /// A handler that declared a migration of the state would wait for itself, or be called again by its own wait.
    static func marking<Value>(_ location: StateLocation, _ body: () throws -> Value) rethrows -> Value {
        let token = RunToken(location)
        defer { token.end() }
        return try $current.withValue(token, operation: body)
    }
}
