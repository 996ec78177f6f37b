/// How far the files of a migration are copied: told about a hundred times, however many they are.
struct CopyProgress {
    /// Gets how much is done, from 0 to 1, and what is being done.
    typealias Handler = (_ fraction: Double, _ note: String) -> Void

    /// A file costs its calls and its bytes, so an entry counts like 4 KiB.
    static var costOfEntry: UInt64 { 4_096 }

    private let total: Double
    /// `nil` where nobody is told and nothing may end the copy.
    private let handler: Handler?
    private var done: UInt64 = 0
    private var percent = -1

    /// Of trees that are to be copied; holes stay holes.
    init(_ trees: [FileTree], _ handler: @escaping Handler) {
        var total = 0.0
        for entry in trees.flatMap(\.entries) {
            total += Double(Self.costOfEntry)
            if entry.status.kind == .file { total += Double(min(entry.status.size, entry.status.allocated)) }
        }
        self.total = max(total, 1)
        self.handler = handler
    }

    /// Of a copy that puts files back.
    init() { (total, handler) = (1, nil) }

    /// Says what comes next, if there is something to say since the last time; throws where the task was cancelled, since nothing
    /// depends on the copy yet.
    mutating func reach(_ path: String) throws(CancellationError) {
        guard let handler else { return }
        if Task.isCancelled { throw CancellationError() }
        let percent = Int(min(Double(done) / total, 1) * 100)
        if percent == self.percent { return }
        self.percent = percent
        handler(Double(percent) / 100, "copying \(path)")
    }

    mutating func add(_ cost: UInt64) { done &+= cost }
}
