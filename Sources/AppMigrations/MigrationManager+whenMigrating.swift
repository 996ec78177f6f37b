extension MigrationManager {
    /// Runs `run`, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The closure runs before the call returns, on the caller's thread. Where the version has run already, the call
    /// costs some nanoseconds and makes no system call. In asynchronous code a closure without `await` takes this
    /// entry, which waits for another process on the calling thread.
    ///
    /// - Parameters:
    ///   - toVersion: The version, or the sub-migration of one (`1.1-2`); strictly after the one declared before it, and
    ///     not after the app's. A sub-migration counts by its release.
    ///   - paths: Files and folders that are put back to what they were if the closure throws or its process dies, and
    ///     brought to the medium before the closure is recorded.
    ///   - run: What is to be done. It can be run again after a death or a throw, so make it repeatable, or name in
    ///     `protecting:` what it changes. A closure that writes to other files synchronizes them before it returns, with
    ///     ``MigrationContext/synchronize(_:)``: otherwise a power cut can leave the record and take the work.
    /// - Returns: Whether the closure ran. `false` means that the version has run already, or belongs to the baseline; in a start
    ///   whose ``launch-property`` is `downgrade(from:)`, that nothing runs.
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`, `outOfOrder`, `blocked`,
    ///   `nested`, `overtaken`, `attemptLimitReached`, `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`,
    ///   `stateFromNewerFormat`, `protectionFailed`, `stateNotSaved`, or `migrationFailed` with the closure's error as
    ///   ``MigrationError/underlyingError``. The manager is closed then.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        protecting paths: [String] = [],
        run: () throws -> Void
    ) throws(MigrationError) -> Bool {
        guard let admission = try admit(toVersion, isAsynchronous: false) else { return false }
        return try perform(admission, protecting: paths) { _ in try run() }
    }

    /// Runs `run` with its context, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The same as ``whenMigrating(toVersion:protecting:run:)-(_,_,()->Void)``, for a closure that wants to know its
    /// attempt or report progress.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        protecting paths: [String] = [],
        run: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        guard let admission = try admit(toVersion, isAsynchronous: false) else { return false }
        return try perform(admission, protecting: paths, run)
    }

    /// A declaration that may have something to run, and its place among those of this manager.
    struct Admission {
        let version: AppVersion
        let ticket: Ticket
    }

    struct Ticket: Equatable {
        let number: UInt64
        let isAsynchronous: Bool
    }

    /// Decides about a declaration by what is known; `nil` when there is nothing to run.
    ///
    /// This is the whole cost of a version that has run: parse, lock, two comparisons.
    @inline(__always)
    func admit(_ text: String, isAsynchronous: Bool) throws(MigrationError) -> Admission? {
        let version = UsualVersion.read(text)
        if !version.isNone {
            let isIdle = core.withLock { core in
                guard core.previous.precedes(version), !core.fastLimit.precedes(version) else { return false }
                core.previous.set(version)
                return true
            }
            if isIdle { return nil }
        }
        return try admitClosely(text, isAsynchronous)
    }

    @inline(never)
    private func admitClosely(
        _ text: String,
        _ isAsynchronous: Bool
    ) throws(MigrationError) -> Admission? {
        let enclosing = planner == nil ? try RunToken.enclosing(file.location) : nil
        let version: AppVersion
        switch AppVersion.read(text) {
        case .version(let read): version = read
        case .problem(let problem): throw refused(.invalidVersion(text, problem, manager: name))
        }
        if let enclosing, enclosing.isPlan { throw .nested(file.location, version) }
        if let planner {
            if case .closed(let ended) = core.withLock({ $0.standing }) {
                throw .blocked(version, by: ended, file.location)
            }
            planner.record(version, by: self)
            return nil
        }
        guard try isRehearsed(version) else { return nil }
        if core.withLock({ $0.owesLaunch }) { saveOwedLaunch() }
        return try core.withLock { core throws(MigrationError) in
            if case .closed(let first) = core.standing { throw .blocked(version, by: first, file.location) }
            do throws(MigrationError) {
                if enclosing != nil { throw .nested(file.location, version) }
                // Without the limit: whether it is reached is decided under the lock, since another process may have
                // succeeded meanwhile.
                let decision = decide(
                    version,
                    after: core.previous,
                    core.marks,
                    core.marks,
                    isFresh: core.isFresh,
                    limit: nil
                )
                if let error = refusal(of: decision, version) { throw error }
                core.previous = version
                if decision == .alreadyRun || decision == .heldByDowngrade { return nil }
            } catch {
                core.close(error)
                throw error
            }
            let ticket = Ticket(number: core.nextTicket, isAsynchronous: isAsynchronous)
            core.nextTicket += 1
            core.queue.append(ticket)
            core.fastLimit = .zero
            return Admission(version: version, ticket: ticket)
        }
    }

    func decide(
        _ version: AppVersion,
        after previous: AppVersion,
        _ known: StateMarks,
        _ marks: StateMarks,
        isFresh: Bool,
        limit: Int?
    ) -> MigrationDecision {
        MigrationDecision(
            version,
            after: previous,
            current: currentVersion,
            known: known,
            marks: marks,
            isFresh: isFresh,
            attemptLimit: limit
        )
    }

    /// The error that a decision stands for, if it stands for one.
    func refusal(of decision: MigrationDecision, _ version: AppVersion) -> MigrationError? {
        switch decision {
        case .outOfOrder(let previous): .outOfOrder(version, after: previous, file.location)
        case .newerThanCurrent: .newer(version, current: currentVersion, file.location)
        case .overtaken(let newer): .overtaken(version, by: newer, current: currentVersion, file.location)
        case .setBack: .setBack(version, file.location)
        case .attemptLimitReached(let deaths): .attemptLimitReached(version, deaths: deaths, file.location)
        case .run, .alreadyRun, .joinsBaseline, .heldByDowngrade: nil
        }
    }

    /// Closes the manager with `error`, unless it is closed already: then the answer is that it is blocked.
    func refused(_ error: MigrationError) -> MigrationError {
        core.withLock { core in
            if case .closed(let first) = core.standing {
                return .blocked(error.version, by: first, file.location)
            }
            if planner == nil { core.close(error) }
            return error
        }
    }
}

extension MigrationManager.Core {
    mutating func close(_ error: MigrationError) {
        if case .open = standing { standing = .closed(error) }
        fastLimit = .zero
    }

    /// Lets declarations that have nothing to run pass quickly again, if nothing stands against it.
    mutating func settle(_ current: AppVersion) {
        guard case .open = standing else { return fastLimit = .zero }
        fastLimit = queue.isEmpty && plansUnderWay == 0 && !owesLaunch ? marks.idleLimit(of: current) : .zero
    }
}
