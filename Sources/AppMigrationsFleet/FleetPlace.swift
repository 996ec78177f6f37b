internal import AppMigrations

/// A manager's place among the hosts of its fleet; one reference, since a start hands it on.
final class FleetPlace: Sendable {
    let stored: StoredState
    let rules: UpgradeRules
    let options: FleetMigrationManager.Options

    init(
        _ name: String,
        _ currentVersion: String,
        _ store: any FleetStore,
        _ options: FleetMigrationManager.Options
    ) throws(MigrationError) {
        try StateLocation.check(name)
        let current = try AppVersion(currentVersion, of: "currentVersion:", manager: name)
        let deadline = Deadline(clock: options.clock, lease: options.leaseLength)
        let location = StateLocation(name: name, directory: "", store: "the fleet's store")
        stored = StoredState(location, store, deadline)
        rules = try UpgradeRules(
            appVersion: current,
            upgradesFrom: options.upgradesFrom,
            in: location
        )
        self.options = options
    }

    /// The owner of a new lease, which no other lease has.
    func makeOwner() -> String {
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        return "\(options.host ?? PlatformHost.name), process \(Platform.process), \(number)"
    }

    /// Tells the manager from others, as long as it is there, to the code that a plan of it runs.
    var token: StateLocation { stored.location.token(of: "\(ObjectIdentifier(self))") }

    /// Reads the state, makes it on the fleet's first run, and saves that this version was launched.
    ///
    /// Where nothing is pending this is one read of the store. Of several hosts that make the state at once
    /// one does, and the others find it.
    nonisolated(nonsending) func start(
        _ firstRun: () async throws -> MigrationManager.FirstRun
    ) async throws(MigrationError) -> StartOutcome {
        let document = try await stored.document()
        let head = document?.bytes.withUnsafeBufferPointer { StateHead.read($0, name: stored.location.name) }
        if let head, head.launched >= rules.appVersion || options.isReadOnly {
            return try StartOutcome(found: head, by: rules)
        }
        var found = try stored.found(document)
        if found.state == nil {
            let answer: MigrationManager.FirstRun
            do { answer = try await firstRun() } catch { throw .firstRunFailed(error, stored.location) }
            let made = try StartOutcome(first: answer, by: rules)
            if options.isReadOnly { return made }
            // Several hosts start at once with the new data, and the one that made the state may die before
            // it declares anything. So the mark of a fresh install stays until another version is launched:
            // no host knows when all are through.
            let state = MigrationState(name: stored.location.name, versions: made.versions)
            let outcome = try await stored.save(state, at: nil, else: "Nothing was run.")
            guard case .refused(let now) = outcome else { return made }
            found = now
        }
        guard let state = found.state else { throw .gone(stored.location) }
        let start = try StartOutcome(found: state.versions, by: rules)
        // While a lease stands nobody writes but its holder, which would lose it. The next start does it.
        let isHeld = found.lease != nil
        if options.isReadOnly || state.versions.launched >= rules.appVersion || isHeld { return start }
        do throws(MigrationError) {
            let launched = state.recordingLaunch(of: rules.appVersion)
            _ = try await stored.save(
                launched,
                at: found.revision,
                else: "The launch of this version was not saved. Nothing else depends on that."
            )
        } catch {
            if error.code != .stateNotSaved { throw error }
        }
        return start
    }
}
