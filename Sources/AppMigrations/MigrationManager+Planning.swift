/// What would be done with one declared version, by ``MigrationManager/plan(_:)-((MigrationManager)->Void)``.
public struct PlannedMigration: Sendable, CustomStringConvertible {
    /// What would be done.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The version declared.
    public let version: AppVersion

    /// Why the version would be refused; with ``Kind/refused``.
    public let error: MigrationError?

    /// The version and the kind, for instance `1.4 willRun`.
    public var description: String { "\(version) \(kind)" }

    /// The kinds of ``PlannedMigration``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Name {
            case willRun, alreadyRun, baseline, missed, heldByDowngrade, refused

            var text: String {
                switch self {
                case .willRun: "willRun"
                case .alreadyRun: "alreadyRun"
                case .baseline: "baseline"
                case .missed: "missed"
                case .heldByDowngrade: "heldByDowngrade"
                case .refused: "refused"
                }
            }
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// The name of the kind, as it is written in Swift.
        public var description: String { name.text }

        /// Its closure would run.
        public static var willRun: Kind { Kind(.willRun) }

        /// It ran here.
        public static var alreadyRun: Kind { Kind(.alreadyRun) }

        /// The data was at this version, or beyond it, when the state was made or reset.
        public static var baseline: Kind { Kind(.baseline) }

        /// It lies below the last-run version and never ran here: it was declared too late, and isn't run.
        public static var missed: Kind { Kind(.missed) }

        /// A newer release of the app was here; this one runs nothing, and the next upgrade does.
        public static var heldByDowngrade: Kind { Kind(.heldByDowngrade) }

        /// Declaring it would throw ``PlannedMigration/error``.
        public static var refused: Kind { Kind(.refused) }
    }
}

/// Writes down what a manager would do.
final class PlanRecorder: Sendable {
    let state: MigrationState
    private let known: StateMarks
    private let isFresh: Bool
    private let progress = Guarded(Progress())

    private struct Progress {
        var rows: [PlannedMigration] = []
        var previous = AppVersion.zero
        var firstRefusal: MigrationError?
    }

    /// `known` is what the manager that is asked knows of the state: a declaration up to its mark looks no further.
    init(_ state: MigrationState, _ known: StateMarks, isFresh: Bool) {
        self.state = state
        self.known = known
        self.isFresh = isFresh
    }

    deinit { progress.destroy() }

    var rows: [PlannedMigration] { progress.withLock { $0.rows } }

    func record(_ version: AppVersion, by manager: MigrationManager) {
        progress.withLock { progress in
            let decision = manager.decide(
                version,
                after: progress.previous,
                known,
                state.marks,
                isFresh: isFresh,
                limit: manager.options.attemptLimit
            )
            var refusal = manager.refusal(of: decision, version)
            if let first = progress.firstRefusal {
                refusal = .blocked(version, by: first, manager.file.location)
            }
            progress.firstRefusal = progress.firstRefusal ?? refusal
            let kind = refusal == nil ? kind(of: decision, version) : .refused
            progress.rows.append(PlannedMigration(kind: kind, version: version, error: refusal))
            progress.previous = max(progress.previous, version)
        }
    }

    private func kind(of decision: MigrationDecision, _ version: AppVersion) -> PlannedMigration.Kind {
        switch decision {
        case .run: .willRun
        case .joinsBaseline: .baseline
        case .heldByDowngrade: .heldByDowngrade
        default: pastKind(of: version)
        }
    }

    private func pastKind(of version: AppVersion) -> PlannedMigration.Kind {
        if state.history.contains(where: { $0.version == version }) { return .alreadyRun }
        if version <= state.marks.baseline { return .baseline }
        return state.mayHaveForgotten(version) ? .alreadyRun : .missed
    }
}

extension MigrationManager {
    /// What the declarations would do now, without calling a closure: one row for each, in their order.
    ///
    /// It reads the state again, changes nothing and never closes the manager. Use the manager that is handed in: another
    /// one of the same state throws `nested` inside. A version that would be refused gets a row of the kind `refused`,
    /// and so does every one after it, as in a real start.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or
    ///   `invalidVersion`, and what `declarations` throws itself.
    public func plan(_ declarations: (MigrationManager) throws -> Void) throws -> [PlannedMigration] {
        let (recorder, manager, token) = try beginPlan()
        defer { endPlan(manager, token) }
        try RunToken.$current.withValue(token) { try declarations(manager) }
        return recorder.rows
    }

    /// A manager that only writes down what `manager` would do.
    private convenience init(planning manager: MigrationManager, for planner: PlanRecorder) {
        let core = Core(marks: planner.state.marks, isFresh: false, fastLimit: .zero)
        self.init(like: manager, for: Witness(planner: planner), core: core)
    }

    func beginPlan() throws(MigrationError) -> (PlanRecorder, MigrationManager, RunToken) {
        guard var state = try file.readState() else { throw .gone(file.location) }
        // Only the lock tells an attempt that is under way from one whose process died.
        if options.attemptLimit != nil, let interrupted = state.marks.interrupted, interrupted.failure == nil,
            try file.isLocked()
        {
            state.marks.interrupted?.failure = "It is under way."
        }
        let folder: FileIdentity?
        do throws(SystemCallError) {
            folder = try Platform.identity(ofFolder: file.location.directory)
        } catch {
            throw .unreadable(error, file.location)
        }
        let (known, isFresh) = core.withLock { core in
            core.plansUnderWay += 1
            core.settle(currentVersion)
            return (core.marks, core.isFresh)
        }
        let recorder = PlanRecorder(state, known, isFresh: isFresh)
        let manager = MigrationManager(planning: self, for: recorder)
        return (recorder, manager, RunToken(file.location, .plan(folder: folder)))
    }

    func endPlan(_ manager: MigrationManager, _ token: RunToken) {
        token.end()
        // Kept and declared with, it would pass over every migration without a word.
        manager.core.withLock { $0.close(.planEnded(file.location)) }
        core.withLock { core in
            core.plansUnderWay -= 1
            core.settle(currentVersion)
        }
    }
}
