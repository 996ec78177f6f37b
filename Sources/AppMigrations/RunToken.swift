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

    /// Whether it is a plan that is running, and no closure: nothing is run then that a later declaration could pass by.
    var isPlan: Bool { lock == nil }

    /// The token of the closure or plan of that state inside which the caller stands; the lock's identity finds it
    /// under other paths too.
    static func enclosing(stateFile: String, lock: FileIdentity? = nil) -> RunToken? {
        var token = current
        while let open = token {
            let isSamePath = open.stateFile.utf8.elementsEqual(stateFile.utf8)
            let isSame = isSamePath || (lock != nil && open.lock == lock)
            let isOpen = open.isOpen.withLock { $0 }
            if isSame, isOpen { return open }
            token = open.parent
        }
        return nil
    }
}
