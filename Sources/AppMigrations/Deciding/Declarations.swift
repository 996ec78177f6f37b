/// The declarations of one manager: what was declared, whether one is under way, and what is known of the state.
///
/// It reads no file: the manager tells it what the state says. The manager of a fleet asks the same. A fleet takes from the core
/// `Deciding`, the values of `State`, `StartOutcome`, `RunToken`, `Message`, `Guarded`, the clocks and the public types.
package struct Declarations {
    /// A version with the oldest app that can read the data after it.
    package struct Declaration: Sendable {
        package let version: AppVersion
        /// Zero where every app may go on reading.
        package let minimumAppVersion: AppVersion
        /// True if it also runs below the last-run version, once.
        var isOutOfOrder = false
    }

    private enum Standing {
        case open
        /// A declaration has something to run, and its call hasn't returned.
        case declaring
        case closed(MigrationError)
    }

    package let release: AppRelease
    package private(set) var marks: StateMarks
    /// The whole state that the marks are of, once a declaration out of order has asked for it.
    package private(set) var state: MigrationState?
    /// True if each declaration is looked at: by a plan, which shows it, or by a rehearsal, which steps in.
    private var isObserved = false
    /// The plan that is made of the declarations, while it is, and its rows, which outlive it.
    private(set) var plan: Plan?
    var rows: [PlannedMigration]?
    private var standing = Standing.open { didSet { settle() } }
    var previous = AppVersion.zero
    /// Versions up to this one have run; zero turns the shortcut off.
    private var idleLimit = AppVersion.zero

    private var location: StateLocation { release.location }

    package init(_ marks: StateMarks, _ release: AppRelease) {
        (self.release, self.marks) = (release, marks)
        settle()
    }

    /// Begins the declarations anew with what is known, for the manager of a plan or a rehearsal.
    package func observed(by plan: Plan? = nil) -> Declarations {
        var observed = Declarations(marks, release)
        observed.isObserved = true
        observed.plan = plan
        observed.rows = plan.map { _ in [] }
        observed.settle()
        return observed
    }

    /// True if these declarations were a first start of a fresh install, and came to their end.
    ///
    /// The manager of a plan has been closed by then.
    var endsFreshInstall: Bool {
        marks.freshInstall != nil && previous > .zero && firstFailure == nil
            && marks.isFreshInstall(of: release.version)
    }

    package var firstFailure: MigrationError? {
        if case .closed(let first) = standing { first } else { nil }
    }

    /// Passes a version over that has run already; `false` where a closer look is needed.
    ///
    /// This is the whole cost of a version that has run: parse, lock, two comparisons.
    @inline(__always)
    package mutating func passes(_ version: AppVersion) -> Bool {
        guard previous < version, version <= idleLimit else { return false }
        previous = version
        return true
    }
}

extension Declarations {
    /// Reads a declaration and decides about it by what is known; `nil` where there is nothing to run.
    ///
    /// A declaration is under way until ``end()`` or ``close(_:)``. A refusal closes, but for that of a second one while one
    /// is under way: a manager is one sequence of declarations.
    package mutating func declare(
        _ text: String,
        outOfOrder: Bool = false,
        minimumAppVersion floor: String?,
        isNested: Bool = false
    ) throws(MigrationError) -> Declaration? {
        if case .declaring = standing {
            let version = AppVersion(text)
            throw .nested(location, version).completed(declaring: version)
        }
        do throws(MigrationError) {
            if let firstFailure { throw .managerClosed(AppVersion(text), by: firstFailure, in: location) }
            let declaration = try read(text, outOfOrder: outOfOrder, minimumAppVersion: floor)
            if isNested { throw .nested(location, declaration.version) }
            // The limit of attempts is looked at under the lock: another process may have succeeded meanwhile.
            let hasRun = state?.hasRun(declaration) ?? true
            let decision = try decide(declaration, marks, after: previous, hasRun: hasRun, limit: nil)
            previous = declaration.version
            switch decision {
            case .alreadyRun where !mustRaiseFloor(marks, declaration): return nil
            default: break
            }
            standing = .declaring
            return declaration
        } catch {
            let refusal = error.completed(declaring: AppVersion(text))
            close(refusal)
            throw refusal
        }
    }

    package var plannedRows: [PlannedMigration] { rows ?? [] }

    /// Adds a row to the plan that is made of the declarations; `false` where none is.
    ///
    /// A refusal gets a row, and closes as in a real start: so does each row after it.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    package mutating func plan(
        _ text: String,
        outOfOrder: Bool = false,
        minimumAppVersion floor: String?
    ) throws(MigrationError) -> Bool {
        guard let plan else { return false }
        let declaration = try read(text, outOfOrder: outOfOrder, minimumAppVersion: floor)
        let (version, marks) = (declaration.version, plan.state.marks)
        var kind = PlannedMigration.Kind.refused
        var refusal: MigrationError?
        do throws(MigrationError) {
            if let firstFailure { throw .managerClosed(version, by: firstFailure, in: release.location) }
            let hasRun = plan.state.hasRun(declaration)
            let decision = try decide(
                declaration,
                marks,
                after: previous,
                hasRun: hasRun,
                limit: plan.limit
            )
            kind = plan.kind(of: decision, version)
        } catch {
            let completed = error.completed(declaring: version)
            refusal = completed
            close(completed)
        }
        previous = max(previous, version)
        let isPending = version > marks.lastRun || !plan.state.hasRun(declaration)
        let done = isPending ? marks.attempts(at: version)?.checkpoint?.progress : nil
        rows?.append(PlannedMigration(kind: kind, version: version, progress: done, error: refusal))
        return true
    }

    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    func read(
        _ text: String,
        outOfOrder: Bool = false,
        minimumAppVersion floor: String?
    ) throws(MigrationError) -> Declaration {
        let version = try AppVersion(text) { problem in
            location.error(
                .invalidVersion,
                nil,
                "\(problem) It is declared in \(location).",
                advice: VersionReader.grammar
            )
        }
        guard let floor else {
            return Declaration(version: version, minimumAppVersion: .zero, isOutOfOrder: outOfOrder)
        }
        let minimumAppVersion = try AppVersion(floor) { problem in
            location.error(
                .invalidVersion,
                version,
                "\(problem) It is the minimumAppVersion: of migration \(version) in \(location).",
                advice: VersionReader.grammar
            )
        }
        return Declaration(
            version: version,
            minimumAppVersion: minimumAppVersion,
            isOutOfOrder: outOfOrder
        )
    }

    /// True if only the whole state says whether a version that is declared out of order has run, and it isn't known yet.
    package func needsState(for text: String) -> Bool {
        guard case .open = standing, state == nil, let version = AppVersion(text) else { return false }
        return version > marks.baseline && version <= marks.lastRun
    }

    /// Takes over the whole state, which a declaration out of order needs.
    package mutating func know(_ state: MigrationState) { self.state = state }

    /// Ends a declaration of a manager that only looks, by what the state says now: another process may have run it meanwhile.
    ///
    /// Without the lock an attempt that is under way looks like one whose process died, so the limit of attempts isn't asked.
    package mutating func look(
        at declaration: Declaration,
        in state: MigrationState
    ) throws(MigrationError) {
        if case .run = try decide(
            declaration,
            state.marks,
            hasRun: state.hasRun(declaration),
            limit: nil
        ) {
            throw .readOnly(location, version: declaration.version)
        }
        end()
    }

    /// Takes over what the state says, except marks that were set back, or that a newer app has recorded: those refuse the next
    /// declaration that was pending when the manager was made.
    package mutating func learn(_ new: MigrationState) {
        guard new.marks.lastRun >= marks.lastRun, new.marks.recorded(above: release.version) == nil else {
            return
        }
        marks = new.marks
        if state != nil { state = new }
    }

    package mutating func end() {
        if case .declaring = standing { standing = .open }
        settle()
    }

    /// Ends the declarations, if no earlier failure did: later errors go on naming the first.
    package mutating func close(_ error: MigrationError) {
        if firstFailure == nil { standing = .closed(error) }
    }

    /// Ends the declarations where a rehearsal stops; gives what is thrown.
    mutating func stop(before version: AppVersion) -> MigrationError {
        if let firstFailure { return .managerClosed(version, by: firstFailure, in: location) }
        let error = release.newer(version).completed(declaring: version)
        close(error)
        return error
    }

    package mutating func reopen(_ marks: StateMarks) {
        // A declaration that is under way is refused by the mark: versions that were declared before may be pending again.
        if case .declaring = standing { return }
        self.marks = marks
        state = nil
        previous = .zero
        standing = .open
    }

    /// While a plan is made each declaration is looked at, so that one through the wrong manager is refused.
    package mutating func beginPlan() { idleLimit = .zero }

    /// Ends a plan that was made of these declarations, or by their manager.
    ///
    /// A manager that was handed out for a plan is closed: kept, it would pass over every migration without a word.
    package mutating func endPlan() {
        guard plan != nil else { return settle() }
        plan = nil
        let message: Message = """
            This manager was handed out for a plan of \(location), and the plan is over. Use the manager whose plan it was.
            """
        standing = .closed(location.error(.managerClosed, nil, message))
    }

    /// The refusal of what would change the state through the manager of a plan that is over.
    package var endOfPlan: MigrationError? { plan == nil && rows != nil ? firstFailure : nil }

    /// Lets declarations that have nothing to run pass quickly again, if nothing stands against it.
    private mutating func settle() {
        idleLimit = .zero
        if case .open = standing, !isObserved { idleLimit = min(marks.lastRun, release.version) }
    }
}
