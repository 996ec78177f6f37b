internal import AppMigrations

/// The parts of a manager that don't change: access to its state in the store, its upgrade rules and its
/// options.
///
/// It is a class, because a start passes it on, and one reference is cheap to copy.
final class FleetPlace: Sendable {
    let stored: StoredState
    let rules: UpgradeRules
    let options: FleetMigrationManager.Options

    init(
        name: String,
        currentVersion: String,
        store: any FleetStore,
        options: FleetMigrationManager.Options
    ) throws(MigrationError) {
        try StateLocation.check(name)
        let current = try AppVersion(currentVersion, of: "currentVersion:", manager: name)
        let deadline = Deadline(clock: options.clock, lease: options.leaseLength)
        // A state in a store has no directory.
        let location = StateLocation(name: name, directory: "", store: "the fleet's store")
        stored = StoredState(location, store, deadline)
        rules = try UpgradeRules(
            appVersion: current,
            upgradesFrom: options.upgradesFrom,
            in: location
        )
        self.options = options
    }

    /// Makes the name of the owner of a new lease.
    ///
    /// The name is unique, because it ends with a random number.
    func makeOwner() -> String {
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        return "\(options.host ?? PlatformHost.name), process \(Platform.process), \(number)"
    }

    /// Identifies this manager as long as it exists.
    ///
    /// A plan of this manager marks the code that it calls with this token. So a call from that code to the
    /// same manager is noticed.
    var token: StateLocation { stored.location.token(of: "\(ObjectIdentifier(self))") }

    /// Reads the state, creates it on the fleet's first run, and saves that this version was launched.
    ///
    /// If this version or a newer one was launched before, or if the manager is read-only, this reads the
    /// store once and writes nothing. If several hosts create the state at once, one of them succeeds, and
    /// the others use its state.
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
            // Several hosts may start at once with the new data, and the host that created the state may
            // crash before it declares anything. No host knows when all of them have finished. So the mark of
            // a fresh install stays until another version is launched.
            let state = MigrationState(name: stored.location.name, versions: made.versions)
            let outcome = try await stored.save(state, at: nil, else: "Nothing was run.")
            guard case .refused(let now) = outcome else { return made }
            found = now
        }
        guard let state = found.state else { throw .gone(stored.location) }
        let start = try StartOutcome(found: state.versions, by: rules)
        // Don't write if the document has a lease: its holder would lose it. The next start records the
        // launch.
        let hasLease = found.lease != nil
        if options.isReadOnly || state.versions.launched >= rules.appVersion || hasLease { return start }
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
