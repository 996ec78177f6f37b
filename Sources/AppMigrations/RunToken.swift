/// Marks the code that a manager's closure, or its plan, is running, so that a manager of the same state used
/// inside is refused instead of waiting for itself.
///
/// It is bound to the task, or to the thread where there is none, and ends with the closure: an unstructured `Task`
/// that outlives it inherits a token that no longer counts.
final class RunToken: Sendable {
    @TaskLocal static var current: RunToken?

    private let stateFile: String
    private let lock: FileIdentity?
    private let parent: RunToken?
    private let isOpen = Guarded(true)

    init(stateFile: String, lock: FileIdentity?) {
        self.stateFile = stateFile
        self.lock = lock
        parent = RunToken.current
    }

    deinit { isOpen.destroy() }

    func end() { isOpen.withLock { $0 = false } }

    /// Whether the caller stands inside a closure of that state; the lock's identity finds it under other paths too.
    static func isInside(stateFile: String, lock: FileIdentity? = nil) -> Bool {
        var token = current
        while let open = token {
            let isSame = open.stateFile == stateFile || (lock != nil && open.lock == lock)
            let isOpen = open.isOpen.withLock { $0 }
            if isSame, isOpen { return true }
            token = open.parent
        }
        return false
    }
}
