/// What a declaration that has something to run goes through, and what begins or ends the declarations.
///
/// A file of its own, since a start runs nothing of it.
extension Declarations {
    /// Decides about a declaration by what is known; `nil` when there is nothing to run.
    ///
    /// A refusal, or `refusal`, ends the declarations.
    package mutating func admit(
        _ version: AppVersion,
        current: AppVersion,
        minimumAppVersion: AppVersion,
        isAsynchronous: Bool,
        _ location: StateLocation,
        refusing refusal: MigrationError?
    ) throws(MigrationError) -> Ticket? {
        try requireOpen(version, location)
        // Whether the limit of attempts is reached is decided under the lock: another process may have succeeded meanwhile.
        let decision = decide(version, after: previous, marks, current: current, limit: nil)
        if let error = refusal ?? .refusal(of: decision, version, current: current, location) {
            close(error)
            throw error
        }
        previous = version
        if decision == .heldByDowngrade { return nil }
        if decision == .alreadyRun, !marks.lacksFloor(minimumAppVersion, current: current) { return nil }
        let ticket = Ticket(number: nextTicket, isAsynchronous: isAsynchronous)
        nextTicket += 1
        queue.append(ticket)
        idleLimit = .zero
        return ticket
    }

    /// Decides about a version by the state's own marks; its place in the order was looked at when it was declared.
    package func decide(
        _ version: AppVersion,
        after previous: AppVersion = .zero,
        _ marks: StateMarks,
        current: AppVersion,
        limit: Int?
    ) -> MigrationDecision {
        MigrationDecision(
            version,
            after: previous,
            current: current,
            known: self.marks,
            marks: marks,
            isFresh: isFresh,
            attemptLimit: limit
        )
    }

    /// Whether the calls that came before a ticket are done.
    func turn(of ticket: Ticket) -> LockWait.Turn {
        guard let first = queue.first, first != ticket else { return .now }
        return first.isAsynchronous ? .afterAsynchronousCall : .later
    }

    /// The same, for a caller that suspends its task in any case.
    package func isTurn(of ticket: Ticket) -> Bool { queue.first.map { $0 == ticket } ?? true }

    package mutating func leave(_ ticket: Ticket, current: AppVersion) {
        queue.removeAll { $0 == ticket }
        settle(current)
    }

    package mutating func know(_ marks: StateMarks) { self.marks = marks }

    package mutating func beginPlan(current: AppVersion) {
        plansUnderWay += 1
        settle(current)
    }

    package mutating func endPlan(current: AppVersion) {
        plansUnderWay -= 1
        settle(current)
    }

    /// Begins again after the mark was set.
    package mutating func reopen(_ marks: StateMarks, current: AppVersion) {
        self.marks = marks
        isFresh = false
        previous = .zero
        standing = .open
        settle(current)
    }

    /// Ends the declarations.
    ///
    /// Later errors go on naming the first failure.
    package mutating func close(_ error: MigrationError) {
        if case .open = standing { standing = .closed(error) }
        idleLimit = .zero
    }

    /// The same, whatever failed before.
    package mutating func forget(_ error: MigrationError) {
        standing = .closed(error)
        idleLimit = .zero
    }

    /// Ends the declarations with `error`, and gives the error to throw: where they had ended before, that they had.
    package mutating func closing(_ error: MigrationError, _ location: StateLocation) -> MigrationError {
        if let firstFailure { return .blocked(error.version, by: firstFailure, location) }
        close(error)
        return error
    }

    /// Lets declarations that have nothing to run pass quickly again, if nothing stands against it.
    private mutating func settle(_ current: AppVersion) {
        let isIdle = firstFailure == nil && queue.isEmpty && plansUnderWay == 0
        idleLimit = isIdle ? marks.idleLimit(of: current) : .zero
    }
}

extension Guarded<Declarations> {
    /// Passes a version over that has run already; `false` where a closer look is needed.
    ///
    /// Here, since other modules would lock through the generic code.
    package func pass(_ text: String) -> Bool {
        let version = UsualVersion.read(text)
        return !version.isNone && withLock { $0.passes(version) }
    }
}
