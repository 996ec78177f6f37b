import AppMigrationsFleet
import SimulatedSystem

/// The things that the simulated hosts share: the store with its one document, and time.
final class Fleet: @unchecked Sendable {
    struct Write {
        let host: FleetHost
        let revision: FleetRevision?
        let bytes: [UInt8]
        let hash: UInt64
        let sent: Duration
    }

    let ghost: FleetGhost
    private(set) var document: FleetDocument?
    private(set) var documentHash: UInt64 = 0
    private var count = 0
    /// The time, which passes while nothing else goes on.
    var time = Duration.zero
    /// The time in microseconds.
    var moment: UInt64 {
        UInt64(time.components.seconds) * 1_000_000 + UInt64(time.components.attoseconds / 1_000_000_000_000)
    }
    /// Writes that their hosts take for lost, and that arrive later.
    var late: [Write] = []
    var hosts: [FleetHost] = []
    var trace: [String]?

    init(_ ghost: FleetGhost) { self.ghost = ghost }

    func write(_ write: Write) -> FleetRevision? {
        if write.revision != document?.revision { return nil }
        count += 1
        let revision = FleetRevision(count)
        write.host.written = max(write.host.written, write.sent)
        ghost.look(at: write, over: document?.bytes, in: self)
        document = FleetDocument(bytes: write.bytes, revision: revision)
        documentHash = write.hash
        return revision
    }

    func note(_ text: @autoclosure () -> String) { trace?.append("\(time): \(text())") }
}
