internal import AppMigrations

/// The parts of a manager that don't change: access to its state in the store, its upgrade rules and its
/// options.
///
/// It is a class, because each start hands it to the manager, and one reference is cheap to copy.
final class FleetConfiguration: Sendable {
    let repository: StateRepository
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
        repository = StateRepository(location: location, store: store, deadline: deadline)
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

    /// Identifies the manager as long as it exists.
    ///
    /// While the manager makes a plan, the task that runs the declarations carries this token. So the manager
    /// notices if the declarations call it instead of the manager that the plan passes to them.
    var token: StateLocation { repository.location.token(of: "\(ObjectIdentifier(self))") }

    /// Reads the state, creates it on the fleet's first run, and saves that this version was launched.
    ///
    /// If this version or a newer one was launched before, or if the manager is read-only, this reads the
    /// store once and writes nothing. If several hosts create the state at once, one of them succeeds, and
    /// the others use its state.
    nonisolated(nonsending) func start(
        _ firstRun: () async throws -> MigrationManager.FirstRun
    ) async throws(MigrationError) -> StartOutcome {
        let document = try await repository.document()
        let head = document?.bytes.withUnsafeBufferPointer {
            StateHead.read($0, name: repository.location.name)
        }
        if let head, head.launched >= rules.appVersion || options.isReadOnly {
            return try StartOutcome(found: head, by: rules)
        }
        var found = try repository.found(document)
        if found.state == nil {
            let answer: MigrationManager.FirstRun
            do { answer = try await firstRun() } catch { throw .firstRunFailed(error, repository.location) }
            let firstStart = try StartOutcome(first: answer, by: rules)
            if options.isReadOnly { return firstStart }
            // Several hosts may start at once with the new data, and the host that created the state may
            // crash before it declares anything. No host knows when all of them have finished. So the mark of
            // a fresh install stays until another version is launched.
            let state = MigrationState(name: repository.location.name, versions: firstStart.versions)
            let outcome = try await repository.save(state, ifRevision: nil, else: "Nothing was run.")
            guard case .refused(let current) = outcome else { return firstStart }
            found = current
        }
        guard let state = found.state else { throw .gone(repository.location) }
        let start = try StartOutcome(found: state.versions, by: rules)
        // Don't write if the document has a lease: its holder would lose it. The next start records the
        // launch.
        let hasLease = found.lease != nil
        if options.isReadOnly || state.versions.launched >= rules.appVersion || hasLease { return start }
        do throws(MigrationError) {
            let launched = state.changed { $0.versions.launched = rules.appVersion }
            _ = try await repository.save(
                launched,
                ifRevision: found.revision,
                else: "The launch of this version was not saved. Nothing else depends on that."
            )
        } catch {
            // If only the save failed, this start continues. The next start saves the launch.
            if error.code != .stateNotSaved { throw error }
        }
        return start
    }
}
