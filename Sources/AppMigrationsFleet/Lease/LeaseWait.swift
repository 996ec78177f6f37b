package import AppMigrations

/// The wait for the lease of another host: its pauses, its events and its end.
struct LeaseWait {
    private let location: StateLocation
    private let version: AppVersion?
    private let timeout: Duration?
    private let patience: Duration
    private let clock: FleetClock
    private let onWait: (MigrationEvent) -> Void

    private var watch = LeaseWatch()
    /// When the first look began.
    private var start: Duration?
    private var hasPaused = false
    private var told: Duration?
    private var pause = Duration.milliseconds(20)
    private var holder = ""
    private var end: MigrationError?
    private var asked = Duration.zero
    /// Since when the store can't be read.
    private var failing: Duration?

    private static var longestPause: Duration { .seconds(1) }
    private static var timeBetweenEvents: Duration { .seconds(10) }

    init(
        _ location: StateLocation,
        _ version: AppVersion?,
        timeout: Duration?,
        patience: Duration,
        _ clock: FleetClock,
        onWait: @escaping (MigrationEvent) -> Void
    ) {
        self.location = location
        self.version = version
        self.timeout = timeout
        self.patience = patience
        self.clock = clock
        self.onWait = onWait
    }

    /// Reads the state, and says whether a lease stands in it.
    mutating func look(
        _ stored: StoredState
    ) async throws(MigrationError) -> (found: StoredState.Found, isHeld: Bool) {
        if Task.isCancelled { throw .cancelledWaiting(location, version, holder: nil) }
        let found = try await read(stored)
        if let lease = found.lease, RunToken.isInside(holder: lease.owner, of: location) {
            throw .nested(location, version)
        }
        return (found, isHeld(found))
    }

    /// True if a lease stands in what was read last.
    mutating func isHeld(_ found: StoredState.Found) -> Bool {
        guard let lease = found.lease else { return false }
        return !watch.hasRunOut(lease, at: found.revision, asked: asked, answered: clock.awake())
    }

    /// Reads the state; a wait that has begun outlasts a store that can't be reached for a while, as when its server restarts.
    mutating func read(_ stored: StoredState) async throws(MigrationError) -> StoredState.Found {
        while true {
            asked = clock.awake()
            let start = start ?? asked
            self.start = start
            do throws(MigrationError) {
                // The last look has a second, also where the time is over.
                let left = timeout.map { max(.seconds(1), $0 - (asked - start)) } ?? stored.deadline.limit
                let found = try await stored.read(within: min(left, stored.deadline.limit))
                failing = nil
                return found
            } catch {
                if error.code != .stateUnreadable { throw error }
                if let timeout, clock.awake() - start >= timeout, error.underlyingError is Overdue {
                    throw end ?? .timedOut(timeout, hasPaused ? holder : nil, location, version)
                }
                let now = clock.uptime()
                let since = failing ?? now
                if !hasPaused || now - since >= patience { throw error }
                failing = since
                // A server that comes up again may have forgotten a renewal, so the lease is watched for its whole length anew.
                watch = LeaseWatch()
            }
            try await pause(for: holder, orEndWith: end)
        }
    }

    /// Lets some time pass; `holder` is for people to read, and `end` is the error of a time-out where nobody has the lease.
    mutating func pause(
        for holder: String,
        orEndWith end: MigrationError? = nil
    ) async throws(MigrationError) {
        let now = clock.awake()
        let start = start ?? now
        (self.start, self.holder, self.end, hasPaused) = (start, holder, end, true)
        if let timeout, now - start >= timeout { throw end ?? .timedOut(timeout, holder, location, version) }
        if told.map({ now - $0 >= Self.timeBetweenEvents }) ?? true {
            told = now
            onWait(MigrationEvent(.waiting, location.name, version: version, note: holder))
        }
        var next = pause
        if let timeout { next = min(next, timeout - (now - start)) }
        pause = min(pause * 2, Self.longestPause)
        do { try await clock.pause(next) } catch {
            throw .cancelledWaiting(location, version, holder: holder)
        }
    }
}

extension RunToken {
    /// True if the caller is inside of a closure that runs under the lease of that holder.
    static func isInside(holder: String, of location: StateLocation) -> Bool {
        enclosing(exactly: StateLocation(location.name, heldBy: holder)) != nil
    }
}

extension StateLocation {
    /// The place of a state, which the holder of its lease tells from the same name in another store.
    convenience init(_ name: String, heldBy holder: String) {
        self.init(name: name, directory: holder, store: "the fleet's store")
    }
}

/// Judges by this host's own clock whether a lease has run out: once one revision was seen for the lease's length.
///
/// A revision comes never again, so between two looks that gave the same one the holder hasn't renewed.
package struct LeaseWatch {
    private var revision: FleetRevision?
    private var since = Duration.zero

    package init() {}

    /// Takes down what a look gave, and says whether the holder has let its lease run out.
    ///
    /// `asked` is the time before the store was asked, `answered` the time at which the answer was there.
    package mutating func hasRunOut(
        _ lease: Lease,
        at revision: FleetRevision?,
        asked: Duration,
        answered: Duration
    ) -> Bool {
        if let revision, self.revision == revision { return asked - since >= lease.length }
        self.revision = revision
        since = answered
        return false
    }
}
