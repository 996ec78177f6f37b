/// The declarations of one manager so far, and the state as the manager last read it.
///
/// This type reads no file: the manager reads the state and passes it in. If several hosts share the data (a
/// fleet), the fleet's manager uses this type in the same way.
package struct Declarations {
    private enum Phase {
        case open

        /// The call of a declaration that may have to run its closure hasn't returned.
        case declaring

        /// An error closed the manager.
        case closed(MigrationError)
    }

    package let rules: UpgradeRules

    /// The versions of the state, as this manager last read them.
    package private(set) var versions: StateVersions

    /// The versions that have run; `nil` if they weren't needed yet.
    ///
    /// They are read only for a version that is declared with `addedIn:`.
    private var applied: AppliedVersions?

    /// True if a plan or a rehearsal uses these declarations.
    ///
    /// In that case, no declaration takes the shortcut: a plan needs a row for each declaration, and a
    /// rehearsal may skip a declaration or stop at it.
    private var isObserved = false

    /// The plan that these declarations belong to; `nil` if there is none or the plan has ended.
    private(set) var plan: Plan?

    /// The rows of the plan, which are kept after the plan has ended; `nil` if there was no plan.
    private var rows: [PlannedMigration]?

    private var phase = Phase.open { didSet { refreshShortcut() } }

    /// The version that was declared last.
    private var previous = AppVersion.zero

    /// A declaration of this version or a lower one returns at once, because its migration has already run.
    ///
    /// If it is zero, no declaration takes this shortcut.
    private var shortcutLimit = AppVersion.zero

    private var location: StateLocation { rules.location }

    package init(_ versions: StateVersions, under rules: UpgradeRules) {
        self.rules = rules
        self.versions = versions
        refreshShortcut()
    }

    /// Returns the declarations for the manager of a plan or a rehearsal: with the same versions and rules,
    /// and with no declared version yet.
    package func observed(by plan: Plan? = nil) -> Declarations {
        var observed = Declarations(versions, under: rules)
        observed.isObserved = true
        observed.plan = plan
        observed.rows = plan.map { _ in [] }
        observed.refreshShortcut()
        return observed
    }

    /// True if the fresh install is over: this manager has declared at least one version, and no error has
    /// closed it.
    ///
    /// It is false for the manager of a plan, because a plan closes its manager when it ends.
    var endsFreshInstall: Bool {
        versions.freshInstall != nil && previous > .zero && firstFailure == nil
            && versions.isFreshInstall(of: rules.appVersion)
    }

    /// The error that closed the manager; `nil` if it is open.
    package var firstFailure: MigrationError? {
        if case .closed(let first) = phase { first } else { nil }
    }

    /// Declares a version if it is certain that its migration has run, and returns true.
    ///
    /// Otherwise declares nothing and returns false.
    ///
    /// For most versions of most starts, this is all that a declaration does: it reads the version's text,
    /// takes a lock in memory, and compares twice.
    @inline(__always)
    package mutating func takeShortcut(for version: AppVersion) -> Bool {
        guard previous < version, version <= shortcutLimit else { return false }
        previous = version
        return true
    }
}

extension Declarations {
    /// Reads a declaration, and decides from the state in memory whether its closure may have to run.
    ///
    /// If it may, the declaration is under way until ``endDeclaration()`` or ``close(_:)`` is called. An
    /// error closes the manager, with one exception: if another declaration is under way, this one throws
    /// `nested`, and the other one continues.
    ///
    /// - Returns: The declared migration; `nil` if its closure doesn't run.
    package mutating func declare(
        _ declaration: Declaration,
        isNested: Bool = false
    ) throws(MigrationError) -> DeclaredMigration? {
        if case .declaring = phase {
            let version = declaration.version
            throw .nested(version, in: location).leaving(.migration(version))
        }
        do throws(MigrationError) {
            if let firstFailure { throw .managerClosed(declaration.version, by: firstFailure, in: location) }
            let declared = try declaration.read(in: location)
            if isNested { throw .nested(declared.version, in: location) }
            // The limit of attempts is checked later, while the lock is held: before that, another process
            // may succeed with this migration.
            let decision = try decide(
                declared,
                in: versions,
                after: previous,
                hasRun: declared.hasRun(applied),
                attemptLimit: nil
            )
            previous = declared.version
            if case .alreadyRun = decision, !raisesMinimumAppVersion(declared, in: versions) { return nil }
            phase = .declaring
            return declared
        } catch {
            throw close(error.leaving(.migration(declaration.version)))
        }
    }

    /// True if only the history shows whether the declared migration has run, and it wasn't read yet.
    package func needsHistory(for declaration: Declaration) -> Bool {
        guard let addedIn = declaration.addedIn.flatMap(AppVersion.init), let version = declaration.version,
            case .open = phase, applied == nil
        else { return false }
        return version <= versions.lastRun && versions.baseline < addedIn
    }

    /// Keeps the versions that have run, for the versions that are declared with `addedIn:`.
    package mutating func keepHistory(_ applied: AppliedVersions) { self.applied = applied }

    /// Completes a declaration of a read-only manager without calling its closure, or throws if the closure
    /// would have to run.
    ///
    /// `state` has just been read, because another process may have run the migration. The limit of attempts
    /// isn't checked: without the lock, a running attempt looks the same as an attempt whose process
    /// crashed.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly` if the version is pending.
    package mutating func endReadOnly(
        _ declared: DeclaredMigration,
        in state: MigrationState
    ) throws(MigrationError) {
        do throws(MigrationError) {
            let applied = declared.addedIn == nil ? nil : try state.appliedVersions(at: location)
            let decision = try decide(
                declared,
                in: state.versions,
                hasRun: declared.hasRun(applied),
                attemptLimit: nil
            )
            if case .run = decision { throw .readOnly(location, version: declared.version) }
            endDeclaration()
        } catch {
            throw close(error.leaving(.migration(declared.version)))
        }
    }

    /// Keeps a newer state than the one that this manager has read.
    ///
    /// If the state was reset to a lower version, or a newer app has recorded a migration, the manager keeps
    /// its old versions. So the next pending declaration finds that they differ from the file, and is
    /// refused.
    ///
    /// The versions that have run are read again when they are needed.
    package mutating func update(from newer: StateVersions) {
        guard newer.lastRun >= versions.lastRun, newer.recorded(above: rules.appVersion) == nil else {
            return
        }
        versions = newer
        applied = nil
    }

    /// Ends the declaration that is under way, if there is one.
    package mutating func endDeclaration() {
        if case .declaring = phase { phase = .open }
        refreshShortcut()
    }

    /// Closes the manager because of `error`, unless an earlier error has closed it.
    ///
    /// - Returns: `error`, for the caller to throw.
    @discardableResult
    package mutating func close(_ error: MigrationError) -> MigrationError {
        if firstFailure == nil { phase = .closed(error) }
        return error
    }

    /// Closes the manager, because the release that a rehearsal simulates doesn't have `version`.
    ///
    /// - Returns: The error to throw.
    mutating func closeForRehearsal(before version: AppVersion) -> MigrationError {
        if let firstFailure { return .managerClosed(version, by: firstFailure, in: location) }
        return close(rules.newerThanAppError(version).leaving(.migration(version)))
    }

    /// Opens the manager again, with no declared version, after the state was reset to `versions`.
    package mutating func reopen(at versions: StateVersions) {
        // If a declaration is under way, keep the old versions. It then finds that they differ from the file,
        // and is refused. That is right: versions that were declared before it may be pending again.
        if case .declaring = phase { return }
        self.versions = versions
        applied = nil
        previous = .zero
        phase = .open
    }

    /// Lets declarations of versions that have run take the shortcut, if that is possible.
    private mutating func refreshShortcut() {
        shortcutLimit = .zero
        if case .open = phase, !isObserved { shortcutLimit = min(versions.lastRun, rules.appVersion) }
    }
}

// The declarations of a plan.
extension Declarations {
    package var plannedRows: [PlannedMigration] { rows ?? [] }

    /// True if these declarations belong to a plan, even if the plan has ended.
    var isPlanned: Bool { rows != nil }

    /// Adds a row to the plan; returns false if these declarations don't belong to a plan.
    ///
    /// A version that would be refused gets a row too, and closes the plan's manager. So every later row is
    /// refused, as every later declaration in a real start.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    package mutating func addRow(for declaration: Declaration) throws(MigrationError) -> Bool {
        guard let plan else { return false }
        let declared: DeclaredMigration
        do throws(MigrationError) {
            declared = try declaration.read(in: location)
        } catch {
            throw error.leaving(.migration(declaration.version))
        }
        let version = declared.version
        let versions = plan.versions
        let hasRun = declared.hasRun(plan.applied)
        var kind = PlannedMigration.Kind.refused
        var refusal: MigrationError?
        do throws(MigrationError) {
            if let firstFailure { throw .managerClosed(version, by: firstFailure, in: location) }
            let decision = try decide(
                declared,
                in: versions,
                after: previous,
                hasRun: hasRun,
                // A plan doesn't ask for a reason not to run. With such a reason, the declaration itself
                // checks the limit of attempts after it has asked.
                attemptLimit: declaration.otherRecord == nil ? plan.attemptLimit : nil
            )
            kind = plan.kind(of: decision, about: version)
        } catch {
            refusal = close(error.leaving(.migration(version)))
        }
        previous = max(previous, version)
        let isPending = version > versions.lastRun || !hasRun
        let progress = isPending ? versions.attempts(at: version)?.checkpoint?.progress : nil
        rows?.append(PlannedMigration(kind: kind, version: version, progress: progress, error: refusal))
        return true
    }

    /// Turns the shortcut off while this manager makes a plan.
    ///
    /// While the plan is made, the app must declare with the plan's manager. Without the shortcut, a
    /// declaration with this manager is noticed and refused.
    package mutating func beginPlan() { shortcutLimit = .zero }

    /// Lets declarations take the shortcut again, after this manager has made a plan.
    package mutating func resumeAfterPlan() { refreshShortcut() }

    /// Closes the manager that was passed to the closure of a plan, because the plan has ended.
    ///
    /// If it stayed open and the app had kept it, declarations with it would run nothing and throw no error.
    package mutating func endPlan() {
        plan = nil
        let message: Message = """
            This manager was passed to the closure of a plan of \(location), and the plan has ended. Use the manager on which \
            plan was called.
            """
        phase = .closed(location.error(.managerClosed, message))
    }

    /// The error for a call that would change the state, if this is the manager of a plan that has ended.
    package var endOfPlanError: MigrationError? { plan == nil && rows != nil ? firstFailure : nil }
}
