extension MigrationManager {
    /// The data that is there when a subsystem has no state yet.
    public enum FirstRun: Sendable, Equatable {
        /// None: the current version is recorded as the baseline, and nothing runs.
        ///
        /// Sub-migrations of the current version belong to the baseline too, whichever manager or process declares them, until a
        /// first start got through its declarations. A start gets through when its manager declared something, was closed by no
        /// error, and is released. One that is added later, `1.4-3` to 1.4, runs.
        case freshInstall

        /// Data as the given version left it, older than this library: everything after that version runs. Where the shipped 2.0
        /// took the step 2.0-1 itself, its data is `existingData(at: "2.0-1")`; where 2.0-1 mends what 2.0 left, it is at 2.0.
        case existingData(at: String)

        /// A subsystem that builds itself through its migrations: everything runs.
        case everything
    }

    /// How a start relates to the last one.
    public enum Launch: Sendable, Equatable {
        /// There was no state.
        case first

        /// This version was started before.
        case same

        /// An older version was started before.
        case upgrade(from: AppVersion)

        /// A newer version was started, or ran migrations, before.
        ///
        /// It is for the app to show, or to stop, and decides about no migration: what is pending runs, unless the newer version
        /// has begun to change the data beyond this one. Then its declaration throws `usedByNewerApp`.
        case downgrade(from: AppVersion)
    }
}

extension StateMarks {
    package func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(above: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}

/// The state as a start knows it: the one way by which marks come into a manager, which refuses data that is too old.
package struct StartOutcome {
    package fileprivate(set) var marks: StateMarks
    package let launch: MigrationManager.Launch

    /// A state that was found; `end` says what had happened by then, should it be too old.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package init(
        found marks: StateMarks,
        by release: AppRelease,
        _ end: @autoclosure () -> Message = "Nothing was run or changed."
    ) throws(MigrationError) {
        try release.requireUpgradable(marks, end())
        self.marks = marks
        launch = marks.launch(of: release.version)
    }

    /// The state of a first run.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package init(first answer: MigrationManager.FirstRun, by release: AppRelease) throws(MigrationError) {
        let baseline: AppVersion
        switch answer {
        case .freshInstall: baseline = release.baseline
        case .everything: baseline = .zero
        case .existingData(let text): baseline = try release.baseline(ofExistingData: text)
        }
        marks = StateMarks(
            lastRun: baseline,
            baseline: baseline,
            launched: release.version,
            freshInstall: answer == .freshInstall ? release.version : nil
        )
        launch = .first
    }
}

/// A start of one manager: it reads the state, makes it on the first run, puts back what a killed process left, and saves that
/// this version was launched.
struct Start: ~Copyable {
    let release: AppRelease
    let timeout: Duration?
    let onEvent: (@Sendable (MigrationEvent) -> Void)?

    private var location: StateLocation { release.location }
    private var file: StateFile { StateFile(location: location) }
    private var reporter: Reporter { Reporter(location, onEvent) }

    /// Where nothing is pending this is one read of the state.
    func outcome(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        guard let marks = try file.readMarks() else { return try first(firstRun) }
        // Files that wait to be put back come first: that data is too old is no reason not to write to them.
        if marks.hasLeftover { return try catchUp(marks) }
        let found = try StartOutcome(found: marks, by: release)
        return marks.launched >= release.version ? found : try catchUp(marks)
    }
}

extension Start {
    /// If the lock is free: puts back the files of a killed process, by ``LockedState/recover()``, which calls ``SavedFiles/restore(reportingTo:)``,
    /// and that ``PathRestore/run()`` for each path; then saves which version of the app was launched.
    ///
    /// Where a closure runs under the lock nothing is touched, and the next start saves that. Where files are being put back,
    /// this start waits for them.
    private func catchUp(_ found: StateMarks) throws(MigrationError) -> StartOutcome {
        // A read-only manager takes no lock and restores nothing.
        if location.isReadOnly { return try StartOutcome(found: found, by: release) }
        var marks = found
        do throws(MigrationError) {
            let locked = try LockedState.take(ifFree: reporter, timeout: timeout) {
                () throws(MigrationError) in try awaitsRestore(&marks)
            }
            if let locked { return try settle(locked) }
        } catch {
            // Where no lock or no save can be had, the next start saves which version was launched.
            if marks.hasLeftover { throw forbiddingWrites(error, marks) }
            if error.code != .stateNotSaved { throw error }
        }
        return try StartOutcome(found: marks, by: release)
    }

    /// The marks under the lock, once files are put back; saves that this version was launched.
    ///
    /// The launch is told by what is true then: a newer version may have been started since the state was read without the lock.
    private func settle(_ locked: LockedState) throws(MigrationError) -> StartOutcome {
        let state = try locked.existing()
        // Ask first: an app that can't upgrade the data has not been launched on it.
        var found = try StartOutcome(found: state.marks, by: release, "Nothing was run.")
        if state.marks.launched >= release.version { return found }
        // Where this fails the next start does it: nothing else depends on it.
        _ = locked.note(state.launched(by: release.version))
        found.marks = try locked.existing().marks
        return found
    }

    /// True if files are to be put back, and the closure that they were copied for isn't running any more.
    private func awaitsRestore(_ marks: inout StateMarks) throws(MigrationError) -> Bool {
        guard marks.hasLeftover else { return false }
        do throws(SystemCallError) {
            // A closure that is running has its list locked.
            if let snapshot = try location.existingSnapshot(), try Platform.isLocked(snapshot + "/list") {
                return false
            }
        } catch {
            throw location.protectionError(.restoring, of: marks.interruption?.version, because: error)
        }
        marks = try file.readMarks() ?? marks
        return marks.hasLeftover
    }

    /// Without the lock or the state the files can't be put back, so the error's code has to forbid the app to write to them.
    private func forbiddingWrites(_ error: MigrationError, _ marks: StateMarks) -> MigrationError {
        let version = marks.interruption?.version
        switch error.code {
        case .stateNotSaved, .stateUnreadable:
            return location.protectionError(.restoring, of: version, because: error)
        case .lockTimeout, .cancelled:
            let migration: Message = version.map { "migration \($0)" } ?? "a migration"
            return error.adding(
                "Don't write to the files that \(migration) protects before: they are being put back.",
                version: version
            )
        default: return error
        }
    }

    /// Makes the state, under the lock, and only where no other process made it meanwhile.
    @inline(never)
    private func first(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        try DefaultLocation.refuseEscapes(location)
        // A read-only manager doesn't make the state that another manager would make.
        if location.isReadOnly { return try StartOutcome(first: ask(firstRun), by: release) }
        let locked: LockedState
        do throws(MigrationError) {
            locked = try LockedState.take(reporter, timeout: timeout)
        } catch {
            // A task of this process made the state since it was missed, and is migrating: there is nothing to wait for.
            if error.code == .nested, let marks = try file.readMarks() {
                return try StartOutcome(found: marks, by: release)
            }
            throw error
        }
        // Another process made the state meanwhile; it may have died in a migration already.
        if locked.state != nil { return try settle(locked) }
        let outcome = try StartOutcome(first: ask(firstRun), by: release)
        do throws(MigrationError) {
            // The app's code may have removed the lock with the folder.
            try locked.confirm()
            locked.keepUnlisted()
            try locked.save(MigrationState(name: location.name, marks: outcome.marks))
        } catch {
            throw error.adding("Nothing was run.")
        }
        return outcome
    }

    private func ask(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        do {
            return try RunToken.marking(location, firstRun)
        } catch {
            throw .firstRunFailed(error, location)
        }
    }
}

extension MigrationError {
    package static func firstRunFailed(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        let text: Message = """
            The firstRun: expression of manager \(location.name.quoted) failed: \(sentence(cause)) \
            No state was written to \(location.state) and nothing was run; the next manager asks again.
            """
        return location.error(.firstRunFailed, because: cause, text)
    }
}
