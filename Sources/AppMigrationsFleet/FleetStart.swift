internal import AppMigrations

/// A manager's place among the hosts of its fleet.
struct FleetPlace: Sendable {
    let stored: StoredState
    let release: AppRelease
    let options: FleetMigrationManager.Options
    /// The name of this host; `nil` is the machine's.
    let host: String?
    let number = UInt64.random(in: 0 ... .max)

    init(
        _ name: String,
        _ currentVersion: String,
        _ store: any FleetStore,
        _ options: FleetMigrationManager.Options,
        _ clock: FleetClock = FleetClock(),
        _ host: String? = nil
    ) throws(MigrationError) {
        try StateLocation.check(name)
        let current = try AppVersion(currentVersion, manager: name)
        let deadline = Deadline(clock: clock, limit: options.leaseLength / 2)
        stored = StoredState(StateLocation(name, heldBy: ""), store, deadline)
        release = try AppRelease(current, upgradesFrom: options.upgradesFrom, stored.location)
        (self.options, self.host) = (options, host)
    }
}

/// The start of a host: it reads the state in the store, makes it on the fleet's first run, and saves that its version was launched.
extension FleetPlace {
    /// Where nothing is pending this is one read of the store.
    nonisolated(nonsending) func start(
        _ firstRun: () async throws -> MigrationManager.FirstRun
    ) async throws(MigrationError) -> StartOutcome {
        let document = try await stored.document()
        if let marks = document.flatMap(stored.marks),
            marks.launched >= release.version || options.isReadOnly
        {
            return try StartOutcome(found: marks, by: release)
        }
        let found = try stored.found(document)
        if let state = found.state { return try await known(state, found) }
        return try await first(found, firstRun)
    }

    private func known(
        _ state: MigrationState,
        _ found: StoredState.Found
    ) async throws(MigrationError) -> StartOutcome {
        var outcome = try StartOutcome(found: state.marks, by: release)
        outcome.isFresh = state.isFresh(in: release.version)
        if !options.isReadOnly { try await raiseLaunched(state, found) }
        return outcome
    }

    /// The first run: of several hosts that make the state at once one does, and the others find it.
    nonisolated(nonsending) private func first(
        _ absent: StoredState.Found,
        _ firstRun: () async throws -> MigrationManager.FirstRun
    ) async throws(MigrationError) -> StartOutcome {
        let answer: MigrationManager.FirstRun
        do { answer = try await firstRun() } catch { throw .firstRunFailed(error, stored.location) }
        let made = try StartOutcome(first: answer, by: release)
        if options.isReadOnly { return made }
        let state = MigrationState(
            stored.location.name,
            made.marks,
            unknownMembers: made.isFresh ? MigrationState.freshInstall(of: release.version) : [],
            fence: absent.fence
        )
        let outcome = try await stored.save(state, at: absent.revision, else: "Nothing was run.")
        guard case .refused(let found) = outcome else { return made }
        guard let state = found.state else { throw .gone(stored.location) }
        return try await known(state, found)
    }

    /// Saves that this version was launched; where that isn't possible now, the next start does it.
    ///
    /// While a lease stands nobody writes but its holder, which would lose it.
    private func raiseLaunched(
        _ state: MigrationState,
        _ found: StoredState.Found
    ) async throws(MigrationError) {
        if state.marks.launched >= release.version || found.lease != nil { return }
        let state = state.launched(by: release.version)
        do throws(MigrationError) {
            _ = try await stored.save(state, at: found.revision, else: "Only \"launch\" depends on it.")
        } catch {
            if error.code != .stateNotSaved { throw error }
        }
    }
}

/// The fresh install of a fleet, which stands in the document.
///
/// The host that made the state is one of several that start at once, and may die before it declares anything. All that begin with
/// new data take the sub-migrations of their release into the baseline.
extension MigrationState {
    fileprivate static func freshInstall(of version: AppVersion) -> [UInt8] {
        Array("  \"freshInstall\" : \"\(version)\",\n".utf8)
    }

    fileprivate func isFresh(in version: AppVersion) -> Bool {
        marks.launched == version && unknownMembers.contains(Self.freshInstall(of: version))
    }

    /// This state without the mark, once somebody has named the version of the data.
    func established(in version: AppVersion) -> MigrationState {
        var members = unknownMembers
        members.replace(Self.freshInstall(of: version), with: [])
        return replacing(unknownMembers: members)
    }
}
