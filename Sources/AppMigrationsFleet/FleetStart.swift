internal import AppMigrations

/// What a start of one host finds in the store, or makes there.
struct FleetStart {
    var marks: StateMarks
    var launch: MigrationManager.Launch
    var isFresh = false
    /// Whether the version launched is still to be saved, since a host is migrating.
    var owesLaunch = false

    nonisolated(nonsending) static func reading(
        _ stored: StoredState,
        current: AppVersion,
        _ options: FleetMigrationManager.Options,
        _ firstRun: () async throws -> MigrationManager.FirstRun
    ) async throws(MigrationError) -> FleetStart {
        let found = try await stored.read()
        if found.state != nil { return try await known(found, stored, current, options) }
        return try await first(found, stored, current, options, firstRun)
    }

    @inline(__always)
    private static func requireUpgradable(
        _ marks: StateMarks,
        _ stored: StoredState,
        _ current: AppVersion,
        _ options: FleetMigrationManager.Options
    ) throws(MigrationError) {
        if options.upgradesFrom == nil { return }
        try options.ofOneHost.requireUpgradable(marks, to: current, stored.location)
    }

    /// A start that finds a state; the version launched is saved where no host is migrating.
    private static func known(
        _ found: StoredState.Found,
        _ stored: StoredState,
        _ current: AppVersion,
        _ options: FleetMigrationManager.Options
    ) async throws(MigrationError) -> FleetStart {
        guard let marks = found.state?.marks else { throw .gone(stored.location) }
        try requireUpgradable(marks, stored, current, options)
        var start = FleetStart(marks: marks, launch: marks.launch(of: current))
        if marks.launched < current, !options.isReadOnly {
            start.owesLaunch = try await !stored.raiseLaunched(found, to: current, options)
        }
        return start
    }

    /// The first run: of several hosts that make the state at once one does, and the others find it.
    nonisolated(nonsending) private static func first(
        _ absent: StoredState.Found,
        _ stored: StoredState,
        _ current: AppVersion,
        _ options: FleetMigrationManager.Options,
        _ firstRun: () async throws -> MigrationManager.FirstRun
    ) async throws(MigrationError) -> FleetStart {
        let earliest = try options.ofOneHost.earliestUpgrade(to: current, stored.location)
        let answer: MigrationManager.FirstRun
        do {
            answer = try await firstRun()
        } catch {
            throw .firstRunFailed(error, stored.location)
        }
        let made = try StartOutcome.made(of: answer, current, earliest: earliest, stored.location)
        let start = FleetStart(marks: made.marks, launch: made.launch, isFresh: made.isFresh)
        if options.isReadOnly { return start }
        let state = MigrationState(name: stored.location.name, marks: made.marks, fence: absent.fence)
        let outcome = try await stored.save(state, at: absent.revision, else: "Nothing was run.")
        if case .refused(let found) = outcome { return try await known(found, stored, current, options) }
        return start
    }
}

extension StoredState {
    /// Saves that `current` was launched; gives whether that is settled.
    ///
    /// While a lease stands nobody writes but its holder, which would lose it.
    func raiseLaunched(
        _ found: Found,
        to current: AppVersion,
        _ options: FleetMigrationManager.Options
    ) async throws(MigrationError) -> Bool {
        var found = found
        while var state = found.state, state.marks.launched < current {
            if found.lease != nil { return false }
            state.marks.launched = current
            do throws(MigrationError) {
                switch try await save(
                    state,
                    at: found.revision,
                    else: "Nothing depends on it but \"launch\"."
                ) {
                case .saved: return true
                case .refused(let newer):
                    if newer.revision == found.revision { return false }
                    found = newer
                }
            } catch {
                guard error.code == .stateNotSaved else { throw error }
                options.onEvent?(
                    MigrationEvent(.launchNotSaved, location.name, version: current, error: error)
                )
                return true
            }
        }
        return true
    }
}
