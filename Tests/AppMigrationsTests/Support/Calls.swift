/// What the samples of the documentation called, for the test that runs them; it can let one of the calls fail.
final class Calls: Sendable {
    @TaskLocal private static var current = Calls()

    private let log = Log()
    private let failing: String?
    private let cancelling: String?

    /// `cancelling` names the call in which the task is cancelled that makes it.
    init(failing: String? = nil, cancelling: String? = nil) {
        self.failing = failing
        self.cancelling = cancelling
    }

    var names: [String] { log.lines }

    /// Runs samples whose calls are noted here.
    @discardableResult
    func during<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue(self) { try body() }
    }

    static func note(_ name: String = #function) throws {
        let name = String(name.prefix { $0 != "(" })
        current.log.add(name)
        if name == current.failing { throw Failure() }
        if name == current.cancelling { withUnsafeCurrentTask { $0?.cancel() } }
    }
}
