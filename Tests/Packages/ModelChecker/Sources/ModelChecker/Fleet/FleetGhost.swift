import AppMigrations
import Foundation
import SimulatedSystem

/// An all-seeing observer of the fleet, which checks the rules that hold at each moment.
final class FleetGhost: @unchecked Sendable {
    /// The facts of a document, read by Foundation's parser.
    private struct Facts {
        var lastRun = AppVersion("0")
        var owner: String?
        var fence = 0
        var newestFence = 0
        var attempts = 0
        var length = Duration.zero

        init(_ bytes: [UInt8]?) {
            guard let bytes,
                let state = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            else { return }
            lastRun = (state["lastRunVersion"] as? String).flatMap { AppVersion($0) }
            let latest = state["latestAttempt"] as? [String: Any]
            attempts = latest?["attemptCount"] as? Int ?? 0
            let lease = state["lease"] as? [String: Any]
            newestFence = lease?["fence"] as? Int ?? 0
            // A lease ends with its attempt.
            guard let latest, latest["failure"] is NSNull, let owner = lease?["owner"] as? String else {
                return
            }
            self.owner = owner
            fence = newestFence
            length = .seconds((lease?["length"] as? NSNumber)?.doubleValue ?? 0)
        }
    }

    /// One call of a closure.
    struct Attempt {
        let host: FleetHost
        let version: String
        let fence: Int
        var isCancelled = false
        var hasReturned = false
        var isOver = false
    }

    let versions: [String]
    private(set) var violation: String?
    private(set) var attempts: [Attempt] = []
    private var written = Duration.zero
    private var recorded: [String: Int] = [:]

    init(_ versions: [String]) { self.versions = versions }

    func fail(_ sentence: String) {
        if violation == nil { violation = sentence }
    }

    var hash: UInt64 {
        var hash = UInt64(recorded.count)
        for attempt in attempts {
            let state =
                (attempt.isCancelled ? 1 : 0) | (attempt.hasReturned ? 2 : 0) | (attempt.isOver ? 4 : 0)
            hash = Machine.mix(hash, UInt64(attempt.fence << 8 | attempt.host.number << 4 | state))
        }
        return hash
    }

    /// Looks at each document that is written.
    func look(at write: Fleet.Write, over old: [UInt8]?, in fleet: Fleet) {
        let (before, after) = (Facts(old), Facts(write.bytes))
        guard let mark = after.lastRun else { return fail("The document is a whole state at every moment.") }
        if let earlier = before.lastRun, old != nil, mark < earlier {
            fail("The mark of what has run never falls: it was \(earlier) and is \(mark).")
        }
        if after.newestFence < before.newestFence {
            fail("Fences rise: \(before.newestFence), \(after.newestFence).")
        }
        if let owner = before.owner, owner != after.owner, let holder = after.owner {
            let silence = fleet.time - written
            if silence < before.length {
                fail("One host has the lease: \(holder) takes it \(silence) after \(owner) renewed it.")
            }
        }
        for version in versions {
            guard let number = AppVersion(version), number <= mark,
                before.lastRun.map({ number > $0 }) ?? true
            else { continue }
            let attempt = attempts.last {
                $0.version == version && $0.host === write.host && $0.fence == before.fence
            }
            guard let attempt, attempt.hasReturned else {
                fail(
                    "Only its holder records a migration, after it returned: \(write.host.name) recorded \(version)."
                )
                continue
            }
            recorded[version] = attempt.fence
        }
        written = fleet.time
    }

    /// A closure begins; gives its attempt's number here.
    func begins(_ version: String, on host: FleetHost, _ attempt: Int, fence: Int) -> Int {
        if host.isDead { return -1 }
        if let newest = attempts.map(\.fence).max(), fence <= newest {
            fail("Fences rise: \(host.name) begins under \(fence) after \(newest).")
        }
        let earlier = attempts.count { $0.version == version }
        if attempt <= earlier {
            fail("Each start of a closure is counted: start \(earlier + 1) is told \(attempt).")
        }
        if recorded[version] != nil { fail("What is recorded runs no second time: \(version).") }
        for other in attempts where !other.isOver && !other.isCancelled && !other.host.isDead {
            // A host that stands still can't notice that its lease has run out.
            let isLate = other.host.steps.contains {
                if case .pause(let end) = $0.kind { end <= host.fleet.time } else { false }
            }
            // A host whose lease ran out meanwhile tries once to renew it.
            let now = host.fleet.time
            let isAtLastTry =
                other.host.awake - other.host.written >= FleetScenario.length
                && now - other.host.awake <= FleetScenario.length / 12
            if !isLate, !isAtLastTry {
                fail("No closure goes on under a lease that is another's: \(other.host.name) does.")
            }
        }
        attempts.append(Attempt(host: host, version: version, fence: fence))
        return attempts.count - 1
    }

    /// Time goes on: a closure is cancelled before half a lease is over since the newest of its host's writes
    /// that the store has done.
    func timePasses(to time: Duration) {
        for attempt in attempts where !attempt.isOver && !attempt.isCancelled {
            let host = attempt.host
            if host.isDead || host.isStalled { continue }
            // A host that stood still has a twelfth for its last try.
            let end = max(
                host.written + FleetScenario.length / 2,
                host.awake + FleetScenario.length / 12
            )
            if time > end {
                let age = time - host.written
                fail("A closure ends with half of its lease: \(host.name) has renewed it \(age) ago.")
            }
        }
    }

    func isCancelled(_ attempt: Int) {
        if attempts.indices.contains(attempt) { attempts[attempt].isCancelled = true }
    }

    func ends(_ attempt: Int, returning: Bool) {
        guard attempts.indices.contains(attempt), !attempts[attempt].host.isDead else { return }
        attempts[attempt].isOver = true
        attempts[attempt].hasReturned = returning
    }

    /// A declaration came back on a host: whatever happens, its version is recorded.
    func acknowledges(_ version: String, on host: FleetHost) {
        if host.isDead { return }
        let mark = Facts(host.fleet.document?.bytes).lastRun
        guard let mark, let number = AppVersion(version), number <= mark else {
            return fail("What a call has said to have run is recorded: \(host.name) said so of \(version).")
        }
    }

    /// A declaration threw `leaseLost`.
    func losesLease(_ version: String, on host: FleetHost) {
        if host.isDead { return }
        guard let fence = attempts.last(where: { $0.host === host && $0.version == version })?.fence else {
            return
        }
        if recorded[version] == fence {
            fail("Nothing is recorded of a lost lease: \(host.name), \(version).")
        }
    }

    /// Checks the rules of a last start that nothing disturbed.
    func requireMigrated(_ fleet: Fleet) {
        for version in versions where recorded[version] == nil {
            fail("After one undisturbed start nothing is pending: \(version) is.")
        }
        let facts = Facts(fleet.document?.bytes)
        if facts.owner != nil { fail("After one undisturbed start no lease is left.") }
    }
}
