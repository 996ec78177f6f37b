/// What `init` found, or made, where reading the state alone was not the whole of it.
package struct StartOutcome {
    package internal(set) var marks: StateMarks
    package internal(set) var launch: MigrationManager.Launch
    package internal(set) var isFresh = false
    /// Why the version launched could not be saved.
    var launchFailure: MigrationError?
    /// Whether the version launched is still to be saved, since another process, or a task of this one, holds the lock:
    /// each declaration tries again.
    var owesLaunch = false

    /// What a start finds under the lock, once files are put back; raises the version launched.
    ///
    /// `launch` says what is true then: a newer version may have been started since the state was read without the lock.
    @inline(never)
    static func found(
        _ locked: LockedState,
        _ current: AppVersion,
        _ options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        let marks = try locked.existing().marks
        // Before the version launched is raised, which would hold back the release that can upgrade the data.
        try options.requireUpgradable(marks, to: current, locked.location)
        var outcome = StartOutcome(marks: marks, launch: marks.launch(of: current))
        outcome.launchFailure = locked.raiseLaunched(to: current)
        outcome.marks = try locked.existing().marks
        return outcome
    }

    /// What a start finds while another process, or a task of this one, holds the lock.
    static func held(
        _ marks: StateMarks,
        _ file: StateFile,
        _ current: AppVersion,
        _ options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        try options.requireUpgradable(marks, to: current, file.location)
        var outcome = StartOutcome(marks: marks, launch: marks.launch(of: current))
        outcome.owesLaunch = marks.launched < current
        if outcome.owesLaunch { outcome.launchFailure = .launchOwed(current, file.location) }
        return outcome
    }

    /// Without the lock, so that a handler may wait for another thread.
    @inline(never)
    func report(_ reporter: Reporter, _ current: AppVersion) {
        guard let launchFailure else { return }
        let name = reporter.location.name
        reporter.send(MigrationEvent(.launchNotSaved, name, version: current, error: launchFailure))
    }
}
