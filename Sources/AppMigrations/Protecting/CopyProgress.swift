/// How far the files of a migration are copied, or put back: told about a hundred times, however many they are.
final class CopyProgress {
    /// What is to be copied: how many things, and the bytes in them.
    struct Extent {
        var things = 0
        var bytes: UInt64 = 0

        /// A file costs its calls and its bytes, so a thing counts like 4 KiB.
        var cost: UInt64 { UInt64(things) &* 4_096 &+ bytes }

        static func += (sum: inout Extent, more: Extent) {
            sum.things += more.things
            let (bytes, isTooMuch) = sum.bytes.addingReportingOverflow(more.bytes)
            sum.bytes = isTooMuch ? .max : bytes
        }

        init() {}

        /// One thing; holes stay holes.
        init(_ status: FileStatus) {
            things = 1
            if status.kind == .file { bytes = UInt64(min(status.size, status.allocated)) }
        }
    }

    /// Gets how much is done, from 0 to 1, and what is being done.
    typealias Handler = (_ fraction: Double, _ note: String) -> Void

    private let verb: String
    private let total: Double
    private let canBeCancelled: Bool
    private let handler: Handler
    private var done: UInt64 = 0
    private var percent = -1

    /// A copy, which ends where the task was cancelled: nothing depends on it yet.
    static func taking(_ extent: Extent, _ handler: @escaping Handler) -> CopyProgress {
        CopyProgress("copying", Double(extent.cost), canBeCancelled: true, handler)
    }

    /// A restore, whose files are compared first and then copied.
    static func restoring(_ extent: Extent, _ handler: @escaping Handler) -> CopyProgress {
        CopyProgress("putting back", Double(extent.cost) * 2, canBeCancelled: false, handler)
    }

    private init(_ verb: String, _ total: Double, canBeCancelled: Bool, _ handler: @escaping Handler) {
        self.verb = verb
        self.total = max(total, 1)
        self.canBeCancelled = canBeCancelled
        self.handler = handler
    }

    /// Says what comes next, if there is something to say since the last time.
    func reach(_ path: () -> String) throws {
        try check()
        let percent = Int(min(Double(done) / total, 1) * 100)
        if percent == self.percent { return }
        self.percent = percent
        handler(Double(percent) / 100, "\(verb) \(path())")
    }

    func add(_ cost: UInt64) { done &+= cost }

    /// Throws where the task was cancelled and that may end it.
    func check() throws {
        if canBeCancelled, Task.isCancelled { throw CancellationError() }
    }
}

extension FileTree {
    /// How much stands at `path` and in it.
    static func extent(_ path: String) throws -> CopyProgress.Extent {
        var extent = CopyProgress.Extent()
        let walk = FileWalk(path)
        while let step = try walk.next() {
            guard case .entry(let name, let status) = step else { continue }
            extent += CopyProgress.Extent(status)
            if status.kind == .directory { try walk.enter(name) }
        }
        return extent
    }
}
