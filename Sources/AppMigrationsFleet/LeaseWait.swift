internal import AppMigrations

/// The wait for the lease of another host: its pauses, its events and its end.
struct LeaseWait {
    let manager: FleetMigrationManager
    let version: AppVersion?
    let timeout: Duration?

    /// When the first look began.
    var start: Duration?
    var hasPaused = false
    var told: Duration?
    var pause = Duration.milliseconds(20)
    var holder = ""
    var end: MigrationError?
    /// Since when the store can't be read.
    var failing: Duration?
    /// Since when the store refuses to replace a document that nobody has changed.
    var refused: Duration?

    private var stored: StoredState { manager.stored }
    private var location: StateLocation { stored.location }
    private var clock: FleetClock { manager.clock }
    private var patience: Duration { manager.options.leaseLength }

    /// Reads the state for a call that may not stand inside of the closure under its lease.
    mutating func look() async throws(MigrationError) -> StoredState.Found {
        if Task.isCancelled {
            let moment: Message = "before \(location) took its lease"
            throw location.cancelled(moment, version)
        }
        let found = try await read()
        if let lease = found.lease, try RunToken.enclosing(location.token(of: lease.owner)) != nil {
            throw .nested(version, in: location)
        }
        return found
    }

    /// Reads the state; a wait that has begun outlasts a store that can't be reached for a while, as when its
    /// server restarts.
    mutating func read() async throws(MigrationError) -> StoredState.Found {
        while true {
            let asked = clock.awake()
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
                    throw end ?? location.timedOut(timeout, hasPaused ? holder : nil, version)
                }
                let now = clock.uptime()
                let since = failing ?? now
                if !hasPaused || now - since >= patience { throw error }
                failing = since
            }
            try await pause(for: holder, orEndWith: end)
        }
    }

    /// Lets some time pass where the store refused a document that nobody has changed: somebody else is about
    /// to.
    ///
    /// A host takes less than a lease for it. A console whose transaction was left open is named after that.
    mutating func pauseIfUnchanged(
        _ now: StoredState.Found,
        since found: StoredState.Found
    ) async throws(MigrationError) {
        guard now.revision == found.revision else { return refused = nil }
        let since = refused ?? clock.awake()
        refused = since
        let isLong = clock.awake() - since >= patience
        try await pause(for: (isLong ? await stored.blocker() : nil) ?? now.holder)
    }

    /// Lets some time pass; `holder` is for people to read, and `end` is the error of a time-out where nobody
    /// has the lease.
    mutating func pause(
        for holder: String,
        orEndWith end: MigrationError? = nil
    ) async throws(MigrationError) {
        let now = clock.awake()
        let start = start ?? now
        self.start = start
        self.holder = holder
        self.end = end
        hasPaused = true
        if let timeout, now - start >= timeout { throw end ?? location.timedOut(timeout, holder, version) }
        if told.map({ now - $0 >= .seconds(10) }) ?? true {
            told = now
            var event = MigrationEvent(.waiting, managerName: location.name, version: version)
            event.note = holder
            manager.send(event)
        }
        // Without a random part: a hundred hosts read one row each, and the first reads set them apart.
        var next = pause
        if let timeout { next = min(next, timeout - (now - start)) }
        pause = min(pause * 2, .seconds(1))
        do { try await clock.pause(next) } catch {
            throw location.cancelled("while \(location) waited for \(holder)", version)
        }
    }
}
