/// The declarations of one manager: the last one, whether one is under way, and what the manager knows of the
/// state.
///
/// It reads no file. The manager passes the state in. A fleet's manager uses this type in the same way: of
/// the core, a fleet uses `Deciding`, the values of `State`, `StartOutcome`, `RunToken`, `Message`,
/// `Guarded`, the clocks and the public types.
package struct Declarations {
    /// A declared version, and the oldest app that can use the data once the migration has run.
    package struct Declaration: Sendable {
        package let version: AppVersion

        /// The oldest version of the app that can use the data afterwards; zero if every version can.
        package let minimumAppVersion: AppVersion

        /// True if the migration may run even when a higher version has already run.
        ///
        /// It still runs only one time.
        var isOutOfOrder = false
    }

    private enum Phase {
        case open

        /// A declaration has something to run, and its call hasn't returned.
        case declaring

        /// An error ended the declarations.
        case closed(MigrationError)
    }

    package let rules: UpgradeRules

    /// The version numbers that sum up the state (its versions), as this manager last read them.
    package private(set) var versions: StateVersions

    /// The complete state that `versions` come from.
    ///
    /// It is read only when a version declared out of order needs it; `nil` until then.
    package private(set) var state: MigrationState?

    /// True in a plan or a rehearsal.
    ///
    /// Then each declaration is examined in full: a plan needs a row for it, and a rehearsal may change what
    /// it does.
    private var isObserved = false

    /// The plan that these declarations belong to; `nil` if there is none or it has ended.
    private(set) var plan: Plan?

    /// The rows of the plan, which are still needed when it is over.
    private var rows: [PlannedMigration]?

    private var phase = Phase.open { didSet { refreshShortcut() } }

    /// The version that was declared last.
    private var previous = AppVersion.zero

    /// A declaration of this version or an earlier one returns at once, because it has already run.
    ///
    /// Zero turns this shortcut off.
    private var shortcutLimit = AppVersion.zero

    private var location: StateLocation { rules.location }

    package init(_ versions: StateVersions, under rules: UpgradeRules) {
        self.rules = rules
        self.versions = versions
        refreshShortcut()
    }

    /// Returns a new value with the same versions and rules and no declarations yet.
    ///
    /// The manager of a plan or a rehearsal uses it.
    package func observed(by plan: Plan? = nil) -> Declarations {
        var observed = Declarations(versions, under: rules)
        observed.isObserved = true
        observed.plan = plan
        observed.rows = plan.map { _ in [] }
        observed.refreshShortcut()
        return observed
    }

    /// True if this manager made the first declarations of a fresh install, and none of them failed.
    ///
    /// It is false for the manager of a plan, because the end of the plan has closed it.
    var endsFreshInstall: Bool {
        versions.freshInstall != nil && previous > .zero && firstFailure == nil
            && versions.isFreshInstall(of: rules.appVersion)
    }

    /// The error that closed the manager; `nil` if it is open.
    package var firstFailure: MigrationError? {
        if case .closed(let first) = phase { first } else { nil }
    }

    /// Declares a version if it is certain that it has run, and returns true.
    ///
    /// Otherwise declares nothing and returns false.
    ///
    /// This is the whole cost of a version that has run: reading its text, a lock and two comparisons.
    @inline(__always)
    package mutating func takeShortcut(for version: AppVersion) -> Bool {
        guard previous < version, version <= shortcutLimit else { return false }
        previous = version
        return true
    }
}

extension Declarations {
    /// Parses a declaration.
    ///
    /// Decides from the state that the manager already has in memory whether there is something to run; `nil`
    /// if not.
    ///
    /// The declaration is under way until ``endDeclaration()`` or ``close(_:)``. An error closes the manager,
    /// with one exception: a second declaration while one is under way throws, and the first goes on.
    package mutating func declare(
        _ text: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String?,
        isNested: Bool = false
    ) throws(MigrationError) -> Declaration? {
        if case .declaring = phase {
            let version = AppVersion(text)
            throw .nested(version, in: location).completed(declaring: version)
        }
        do throws(MigrationError) {
            if let firstFailure { throw .managerClosed(AppVersion(text), by: firstFailure, in: location) }
            let declaration = try read(text, outOfOrder: outOfOrder, minimumAppVersion: minimumAppVersion)
            if isNested { throw .nested(declaration.version, in: location) }
            // The limit of attempts is checked under the lock: another process may have succeeded by that
            // time.
            let decision = try decide(
                declaration,
                in: versions,
                after: previous,
                hasRun: state?.hasRun(declaration) ?? true,
                attemptLimit: nil
            )
            previous = declaration.version
            if case .alreadyRun = decision, !raisesMinimumAppVersion(declaration, in: versions) { return nil }
            phase = .declaring
            return declaration
        } catch {
            let refusal = error.completed(declaring: AppVersion(text))
            close(refusal)
            throw refusal
        }
    }

    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    private func read(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion minimumText: String?
    ) throws(MigrationError) -> Declaration {
        let version = try AppVersion(text) { problem in
            location.error(
                .invalidVersion,
                "\(problem) It is declared in \(location).",
                advice: VersionReader.grammar
            )
        }
        var minimumAppVersion = AppVersion.zero
        if let minimumText {
            minimumAppVersion = try AppVersion(minimumText) { problem in
                location.error(
                    .invalidVersion,
                    version: version,
                    "\(problem) It is the minimumAppVersion: of migration \(version) in \(location).",
                    advice: VersionReader.grammar
                )
            }
        }
        return Declaration(
            version: version,
            minimumAppVersion: minimumAppVersion,
            isOutOfOrder: outOfOrder
        )
    }

    /// True if only the whole state shows whether a version declared out of order has run, and it wasn't read
    /// yet.
    package func needsWholeState(for text: String) -> Bool {
        guard case .open = phase, state == nil, let version = AppVersion(text) else { return false }
        return version > versions.baseline && version <= versions.lastRun
    }

    /// Keeps the whole state, which a version declared out of order needs.
    package mutating func keepWholeState(_ state: MigrationState) { self.state = state }

    /// Finishes a declaration of a read-only manager: it succeeds if there is nothing to run, and throws if
    /// the version is pending.
    ///
    /// It decides by the state as it is now, because another process may have run the version. The limit of
    /// attempts isn't checked, because without the lock a running attempt looks the same as one whose process
    /// died.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly` if the version is pending.
    package mutating func endReadOnly(
        _ declaration: Declaration,
        in state: MigrationState
    ) throws(MigrationError) {
        let decision = try decide(
            declaration,
            in: state.versions,
            hasRun: state.hasRun(declaration),
            attemptLimit: nil
        )
        if case .run = decision { throw .readOnly(location, version: declaration.version) }
        endDeclaration()
    }

    /// Replaces the versions and the state that this manager keeps with newer ones.
    ///
    /// A state that was reset to a lower version, or in which a newer app has recorded a migration, is
    /// ignored: the manager keeps its old versions. The next pending declaration compares them with the file,
    /// and is refused.
    package mutating func update(from newer: MigrationState) {
        guard newer.versions.lastRun >= versions.lastRun,
            newer.versions.recorded(above: rules.appVersion) == nil
        else {
            return
        }
        versions = newer.versions
        if state != nil { state = newer }
    }

    /// Ends the declaration that is under way, if there is one.
    package mutating func endDeclaration() {
        if case .declaring = phase { phase = .open }
        refreshShortcut()
    }

    /// Closes the manager; later errors go on naming the first failure.
    package mutating func close(_ error: MigrationError) {
        if firstFailure == nil { phase = .closed(error) }
    }

    /// Closes the manager, because the rehearsed release doesn't have `version`.
    ///
    /// - Returns: The error to throw.
    mutating func closeForRehearsal(before version: AppVersion) -> MigrationError {
        if let firstFailure { return .managerClosed(version, by: firstFailure, in: location) }
        let error = rules.newerThanAppError(version).completed(declaring: version)
        close(error)
        return error
    }

    /// Begins the declarations again after a reset of the state to `versions`.
    package mutating func reopen(at versions: StateVersions) {
        // A declaration that is under way will be refused because of the new versions: versions that were
        // declared before it may be pending again.
        if case .declaring = phase { return }
        self.versions = versions
        state = nil
        previous = .zero
        phase = .open
    }

    /// Lets versions that have run take the shortcut, unless each declaration has to be examined.
    private mutating func refreshShortcut() {
        shortcutLimit = .zero
        if case .open = phase, !isObserved { shortcutLimit = min(versions.lastRun, rules.appVersion) }
    }
}

// The declarations of a plan.
extension Declarations {
    package var plannedRows: [PlannedMigration] { rows ?? [] }

    /// True if these declarations make a plan, or made one that has ended.
    var isPlanned: Bool { rows != nil }

    /// Adds a row to the plan that these declarations make; false if they make none.
    ///
    /// A refused version gets a row too, and closes the manager as in a real start. So every later row is
    /// refused.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    package mutating func addRow(
        for text: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String?
    ) throws(MigrationError) -> Bool {
        guard let plan else { return false }
        let declaration = try read(text, outOfOrder: outOfOrder, minimumAppVersion: minimumAppVersion)
        let version = declaration.version
        let versions = plan.state.versions
        let hasRun = plan.state.hasRun(declaration)
        var kind = PlannedMigration.Kind.refused
        var refusal: MigrationError?
        do throws(MigrationError) {
            if let firstFailure { throw .managerClosed(version, by: firstFailure, in: location) }
            let decision = try decide(
                declaration,
                in: versions,
                after: previous,
                hasRun: hasRun,
                attemptLimit: plan.attemptLimit
            )
            kind = plan.kind(of: decision, about: version)
        } catch {
            let completed = error.completed(declaring: version)
            refusal = completed
            close(completed)
        }
        previous = max(previous, version)
        let isPending = version > versions.lastRun || !hasRun
        let progress = isPending ? versions.attempts(at: version)?.checkpoint?.progress : nil
        rows?.append(PlannedMigration(kind: kind, version: version, progress: progress, error: refusal))
        return true
    }

    /// Turns the shortcut off while the manager makes a plan.
    ///
    /// While a plan is made, the app must declare with the plan's manager. With the shortcut off, a
    /// declaration with this manager is noticed and refused.
    package mutating func beginPlan() { shortcutLimit = .zero }

    /// Ends the plan.
    ///
    /// Call this on the plan's manager, which is closed, and on the manager that made the plan, which may use
    /// the shortcut again.
    ///
    /// The manager that was passed to the plan's closure is closed. If the app kept it, it would otherwise
    /// ignore every migration without an error.
    package mutating func endPlan() {
        guard plan != nil else { return refreshShortcut() }
        plan = nil
        let message: Message = """
            This manager was handed out for a plan of \(location), and the plan is over. Use the manager whose plan it was.
            """
        phase = .closed(location.error(.managerClosed, message))
    }

    /// The error for a call that would change the state, if this is the manager of a plan that is over.
    package var endOfPlanError: MigrationError? { plan == nil && rows != nil ? firstFailure : nil }
}
