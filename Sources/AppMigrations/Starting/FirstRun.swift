extension MigrationManager {
    /// What data there is when a subsystem has no state yet.
    public enum FirstRun: Sendable, Equatable {
        /// None: the current version is recorded as the baseline, and nothing runs. Sub-migrations of the current
        /// version that are declared through the manager that made the state belong to the baseline too.
        case freshInstall

        /// Data as the given version left it, older than this library: everything after that version runs.
        case existingData(at: String)

        /// A subsystem that builds itself through its migrations: everything runs.
        case everything
    }
}

extension StartOutcome {
    /// The first run: under the lock, and only where no other process made the state meanwhile.
    @inline(never)
    static func first(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        let earliest = try options.earliestUpgrade(to: current, file.location)
        try DefaultLocation.refuseEncoded(file.location)
        if options.isReadOnly { return try look(file, current: current, earliest: earliest, firstRun) }
        let reporter = Reporter(location: file.location, onEvent: options.onEvent)
        let outcome = try first(
            file,
            reporter,
            current: current,
            earliest: earliest,
            options,
            firstRun
        )
        outcome.report(reporter, current)
        return outcome
    }

    private static func first(
        _ file: StateFile,
        _ reporter: Reporter,
        current: AppVersion,
        earliest: AppVersion,
        _ options: MigrationManager.Options,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        let locked: LockedState
        do throws(MigrationError) {
            locked = try LockedState.take(file, reporter, timeout: options.lockTimeout)
        } catch {
            // A task of this process made the state since it was missed, and is migrating: there is nothing to wait for.
            if error.code == .nested, case .marks(let marks) = try file.readMarks() {
                return try held(marks, file, current, options)
            }
            throw error
        }
        // Another process made the state meanwhile; it may have died in a migration already.
        if locked.state != nil { return try found(locked, current, options) }
        let answer = try ask(firstRun, file.location, lock: locked.identity)
        do throws(LockLoss) {
            try locked.takeAgain()
        } catch {
            throw .lockLost(error, nil, locked.location, consequence: "Nothing was run.")
        }
        let outcome = try made(of: answer, current, earliest: earliest, file.location)
        try locked.keepUnlisted()
        let state = MigrationState(name: file.location.name, marks: outcome.marks)
        try locked.save(state, nil, else: "Nothing was run.")
        return outcome
    }

    /// The first run of a manager that only looks: the state that another manager would make is its own alone.
    private static func look(
        _ file: StateFile,
        current: AppVersion,
        earliest: AppVersion,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        let answer = try ask(firstRun, file.location, lock: nil)
        let outcome = try made(of: answer, current, earliest: earliest, file.location)
        // Without the lock another process may have made the state while the app looked at its data, and changed them.
        guard case .marks(let marks) = try file.readMarks() else { return outcome }
        try marks.requireUpgradable(from: earliest, to: current, file.location)
        return StartOutcome(marks: marks, launch: marks.launch(of: current))
    }

    package static func made(
        of answer: MigrationManager.FirstRun,
        _ current: AppVersion,
        earliest: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> StartOutcome {
        let baseline = try baseline(answer, current, location)
        if case .existingData = answer, baseline < earliest {
            let end: Message = "No state was written and nothing was run."
            throw .tooOld(baseline, earliest, current: current, location, end)
        }
        let isFresh = if case .freshInstall = answer { true } else { false }
        let marks = StateMarks(lastRun: baseline, baseline: baseline, launched: current)
        return StartOutcome(marks: marks, launch: .first, isFresh: isFresh)
    }

    private static func ask(
        _ firstRun: () throws -> MigrationManager.FirstRun,
        _ location: StateLocation,
        lock: FileIdentity?
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        let token = RunToken(location, .closure(lock: lock))
        defer { token.end() }
        do {
            return try RunToken.$current.withValue(token) { try firstRun() }
        } catch {
            throw .firstRunFailed(error, location)
        }
    }

    private static func baseline(
        _ answer: MigrationManager.FirstRun,
        _ current: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> AppVersion {
        switch answer {
        case .freshInstall: return current
        case .everything: return .zero
        case .existingData(let text):
            let version: AppVersion
            switch AppVersion.read(text) {
            case .version(let read): version = read
            case .problem(let problem): throw .invalidFirstRun(text, problem, location)
            }
            if version.exceeds(current) {
                throw .tooNewFirstRun(version, current: current, location)
            }
            return version
        }
    }
}
