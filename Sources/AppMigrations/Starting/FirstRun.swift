extension MigrationManager {
    /// What data there is when a subsystem has no state yet.
    public enum FirstRun: Sendable {
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
        let reporter = Reporter(location: file.location, onEvent: options.onEvent)
        let outcome = try first(
            file,
            reporter,
            current: current,
            earliest: earliest,
            timeout: options.lockTimeout,
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
        timeout: Duration?,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        let locked: LockedState
        do throws(MigrationError) {
            locked = try LockedState.take(file, reporter, timeout: timeout)
        } catch {
            // A task of this process made the state since it was missed, and is migrating: there is nothing to wait for.
            if error.code == .nested, case .marks(let marks) = try file.readMarks() {
                try marks.requireUpgradable(from: earliest, to: current, file.location)
                return held(marks, file, current)
            }
            throw error
        }
        // Another process made the state meanwhile; it may have died in a migration already.
        if let state = locked.state {
            try state.marks.requireUpgradable(from: earliest, to: current, file.location)
            return try found(locked, current)
        }
        let answer = try ask(firstRun, locked)
        let baseline = try baseline(answer, current, file.location)
        if case .existingData = answer, baseline < earliest {
            let end: Message = "No state was written and nothing was run."
            throw .tooOld(baseline, earliest, current: current, file.location, end)
        }
        let isFresh = if case .freshInstall = answer { true } else { false }
        let marks = StateMarks(lastRun: baseline, baseline: baseline, launched: current, interrupted: nil)
        let state = MigrationState(name: file.location.name, marks: marks)
        try locked.save(state, nil, else: "Nothing was run.")
        return StartOutcome(marks: marks, launch: .first, isFresh: isFresh)
    }

    private static func ask(
        _ firstRun: () throws -> MigrationManager.FirstRun,
        _ locked: LockedState
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        let token = RunToken(locked.location, .closure(lock: locked.identity))
        defer { token.end() }
        let answer: MigrationManager.FirstRun
        do {
            answer = try RunToken.$current.withValue(token) { try firstRun() }
        } catch {
            throw .firstRunFailed(error, locked.location)
        }
        do throws(LockLoss) {
            try locked.takeAgain()
        } catch {
            throw .lockLost(error, nil, locked.location, consequence: "Nothing was run.")
        }
        return answer
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
