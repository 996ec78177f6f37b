internal import AppMigrations

/// Waits for another host: pauses between the reads of the state, sends `waiting` events, and throws after a
/// timeout.
struct LeaseWait {
    let manager: FleetMigrationManager
    let version: AppVersion?
    let timeout: Duration?

    /// When the first read began.
    var start: Duration?
    var hasPaused = false
    /// The times of the `waiting` events of the last 10 seconds.
    ///
    /// The key is the host or transaction that the event names.
    var recentEvents = [String: Duration]()
    var nextDelay = Duration.milliseconds(20)
    /// The host or the transaction that the last pause waited for.
    var holder = ""
    /// The error to throw after the timeout, if no host has the lease.
    var timeoutError: MigrationError?
    /// When reading the store failed for the first time; `nil` if the last read succeeded.
    var firstFailure: Duration?
    /// When the store first refused to replace a document that nobody had changed; `nil` after the document
    /// has changed.
    var firstRefusal: Duration?

    private var repository: StateRepository { manager.repository }
    private var location: StateLocation { repository.location }
    private var clock: FleetClock { manager.clock }
    /// How long failed reads of the store are tolerated.
    private var patience: Duration { manager.options.leaseLength }

    /// Reads the state.
    ///
    /// Throws `cancelled` in a cancelled task. Throws `nested` if the closure that runs under the lease makes
    /// this call, because the call would wait for that closure, and the closure for the call.
    mutating func readOutsideClosure() async throws(MigrationError) -> StateRepository.Found {
        if Task.isCancelled {
            throw location.cancelled("before this host changed the state of \(location)", version: version)
        }
        let found = try await read()
        if let lease = found.lease, try RunToken.enclosing(location.token(of: lease.owner)) != nil {
            throw .nested(version, in: location)
        }
        return found
    }

    /// Reads the state.
    ///
    /// Before the first pause, an error is thrown at once. After that, a failed read is tried again for the
    /// length of a lease, because the store's server may be restarting.
    mutating func read() async throws(MigrationError) -> StateRepository.Found {
        while true {
            let asked = clock.awake()
            let start = start ?? asked
            self.start = start
            do throws(MigrationError) {
                // Even if the timeout is over, a read has a second, or half a lease if that is shorter.
                let left = timeout.map { max(.seconds(1), $0 - (asked - start)) } ?? repository.deadline.limit
                let found = try await repository.read(within: min(left, repository.deadline.limit))
                firstFailure = nil
                return found
            } catch {
                if error.code != .stateUnreadable { throw error }
                if let timeout, clock.awake() - start >= timeout, error.underlyingError is Overdue {
                    let awaited = hasPaused ? holder : nil
                    throw timeoutError
                        ?? location.timedOut(after: timeout, waitingFor: awaited, version: version)
                }
                let now = clock.uptime()
                let since = firstFailure ?? now
                if !hasPaused || now - since >= patience { throw error }
                firstFailure = since
            }
            try await pause(for: holder, orEndWith: timeoutError)
        }
    }

    /// Pauses if the store refused to replace a document that nobody has changed: somebody else has locked
    /// its row.
    ///
    /// A healthy host locks the row only for a moment. After some seconds, the lock probably belongs to a
    /// console whose transaction was left open, or to a host that was suspended. So the server is asked for
    /// that transaction, and the next `waiting` event names it.
    mutating func pauseIfUnchanged(
        _ current: StateRepository.Found,
        since found: StateRepository.Found
    ) async throws(MigrationError) {
        guard current.revision == found.revision else {
            firstRefusal = nil
            return
        }
        let since = firstRefusal ?? clock.awake()
        firstRefusal = since
        let isLong = clock.awake() - since >= repository.timeToAskForBlocker
        let blocker = isLong ? await repository.blocker() : nil
        try await pause(for: blocker ?? current.holderName, isBlocker: blocker != nil)
    }

    /// Sends a `waiting` event at most every 10 seconds, and sleeps.
    ///
    /// If `isBlocker` is true, `holder` is a transaction that has locked the row. The event that names it is
    /// sent at once, unless another event has named it in the last 10 seconds.
    ///
    /// After the timeout it throws `error`, or `lockTimeout` with the name of `holder` if `error` is `nil`.
    mutating func pause(
        for holder: String,
        isBlocker: Bool = false,
        orEndWith error: MigrationError? = nil
    ) async throws(MigrationError) {
        let now = clock.awake()
        let start = start ?? now
        self.start = start
        self.holder = holder
        timeoutError = error
        hasPaused = true
        if let timeout, now - start >= timeout {
            throw error ?? location.timedOut(after: timeout, waitingFor: holder, version: version)
        }
        recentEvents = recentEvents.filter { now - $0.value < .seconds(10) }
        if recentEvents.isEmpty || isBlocker && recentEvents[holder] == nil {
            recentEvents[holder] = now
            var event = MigrationEvent(.waiting, managerName: location.name, version: version)
            event.note = holder
            manager.send(event)
        }
        // The delay has no random part: each read is one row, and the hosts begin at different times anyway.
        var delay = nextDelay
        if let timeout { delay = min(delay, timeout - (now - start)) }
        nextDelay = min(nextDelay * 2, .seconds(1))
        do { try await clock.pause(delay) } catch {
            throw location.cancelled("while \(location) waited for \(holder)", version: version)
        }
    }
}
