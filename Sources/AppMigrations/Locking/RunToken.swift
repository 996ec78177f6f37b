/// Marks the code that a manager's closure, its plan or its handler is running, so that a manager of the same state used
/// inside is refused instead of waiting for itself.
///
/// It is bound to the task, or to the thread where there is none, and ends with the closure: an unstructured `Task`
/// that outlives it inherits a token that no longer counts.
package final class RunToken: Sendable {
    /// What is running, and how its state is known under another path.
    package enum Kind {
        case closure(lock: FileIdentity?)
        /// A plan takes no lock, so its state is known by the folder.
        case plan(folder: FileIdentity?)
    }

    @TaskLocal package static var current: RunToken?

    private let location: StateLocation
    private let kind: Kind

    private struct Progress {
        var isOpen = true
        /// The tokens inside which this one began, the inmost first.
        ///
        /// At its end a token keeps only those that are open still: where a task outlives one plan and begins the next,
        /// the last one would keep all of them alive.
        var outer: [RunToken]
    }

    private let progress: Guarded<Progress>

    package init(_ location: StateLocation, _ kind: Kind) {
        self.location = location
        self.kind = kind
        progress = Guarded(Progress(outer: RunToken.current?.openTokens ?? []))
    }

    package func end() {
        let open = progress.withLock { $0.outer }.filter(\.isOpen)
        progress.withLock { $0 = Progress(isOpen: false, outer: open) }
    }

    /// Whether a plan is running, and no closure: nothing runs in a plan that a later declaration could pass over.
    package var isPlan: Bool {
        if case .plan = kind { true } else { false }
    }

    private var isOpen: Bool { progress.withLock { $0.isOpen } }

    private var openTokens: [RunToken] { ([self] + progress.withLock { $0.outer }).filter(\.isOpen) }

    /// The token of the closure or plan of that state inside of which the caller stands.
    ///
    /// The lock's file and the folder tell the state when it was opened under another path.
    package static func enclosing(
        _ location: StateLocation,
        lock: FileIdentity? = nil
    ) throws(SystemCallError) -> RunToken? {
        guard let current else { return nil }
        for token in current.openTokens {
            if try token.isOfState(location, lock) { return token }
        }
        return nil
    }

    /// The same by name and place alone, which are all that a state in a store is known by.
    package static func enclosing(exactly location: StateLocation) -> RunToken? {
        current?.openTokens.first { $0.isExactly(location) }
    }

    private func isExactly(_ location: StateLocation) -> Bool {
        self.location.name.utf8.elementsEqual(location.name.utf8)
            && self.location.directory.utf8.elementsEqual(location.directory.utf8)
    }

    private func isOfState(_ location: StateLocation, _ lock: FileIdentity?) throws(SystemCallError) -> Bool {
        if isExactly(location) { return true }
        let isSameName = self.location.name.utf8.elementsEqual(location.name.utf8)
        switch kind {
        case .closure(let own): return own != nil && own == lock
        case .plan(let folder):
            guard isSameName else { return false }
            guard let folder, let asked = try Platform.identity(ofFolder: location.directory) else {
                return false
            }
            return folder == asked
        }
    }

    /// Calls a handler of the app as if a closure of that state were running.
    ///
    /// A handler that declared a migration of the state would wait for itself, or be called again by its own wait.
    static func marking(_ location: StateLocation, lock: FileIdentity?, _ body: () -> Void) {
        let token = RunToken(location, .closure(lock: lock))
        defer { token.end() }
        $current.withValue(token, operation: body)
    }
}
