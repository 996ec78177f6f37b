/// The persistent state of one manager: everything that it keeps from one start of the app to the next.
///
/// The functions in this file have the rules for the beginning, the failure and the record of an attempt.
/// `StateCoding.swift` reads and writes a state as JSON. If several hosts share the data (a fleet), the same
/// state is in a shared store and not in a file.
package struct MigrationState: Sendable, Equatable {
    static var format: Int { 1 }

    /// The maximum number of history rows to keep.
    static var historyLimit: Int { 1_000 }

    /// The maximum length of a stored error text, in Unicode scalars.
    static var failureLimit: Int { 1_000 }

    let name: String
    package var versions: StateVersions
    package private(set) var history: History

    /// The highest version among the rows that were dropped from the history; zero if none was dropped.
    private(set) var droppedVersion: AppVersion

    /// The members that the core doesn't know: those of a newer release of this library, or the lease of a
    /// fleet.
    ///
    /// Every save writes them back unchanged.
    package var otherMembers: [OtherMember]

    package init(
        name: String,
        versions: StateVersions,
        history: History = History(),
        droppedVersion: AppVersion = .zero,
        otherMembers: [OtherMember] = []
    ) {
        self.name = name
        self.versions = versions
        self.history = history
        self.droppedVersion = droppedVersion
        self.otherMembers = otherMembers
    }

    /// A member of the state's JSON object that the core doesn't know.
    package struct OtherMember: Sendable, Equatable {
        package let key: String

        /// The text of the member: its key, a colon and its value, as in the file.
        package let text: [UInt8]

        package init(key: String, text: [UInt8]) {
            self.key = key
            self.text = text
        }
    }

    /// Returns a changed copy of this state.
    package func changed<Failure: Error>(
        _ change: (inout MigrationState) throws(Failure) -> Void
    ) throws(Failure) -> MigrationState {
        var copy = self
        try change(&copy)
        return copy
    }
}

// The changes of a start.
extension MigrationState {
    /// Raises the baseline of a fresh install to `version`.
    ///
    /// Then `version` counts as applied, although its closure wasn't called.
    mutating func raiseBaseline(to version: AppVersion, minimumAppVersion: AppVersion) {
        versions.raiseMinimumAppVersion(to: minimumAppVersion)
        versions.record(version)
        versions.baseline = version
    }

    /// Resets the state to `newVersions`.
    ///
    /// - The minimum app version is never lowered.
    /// - The history keeps only the rows of migrations that ran on data before the new last-run version.
    ///   Versions above it are pending again, and so is one below it that was declared with `addedIn:` and
    ///   ran on newer data. No row may say that they have run.
    /// - The dropped version is cleared. It isn't needed any longer, because all versions up to the last-run
    ///   version are part of the new baseline.
    ///
    /// - Throws: ``JSONError`` if the rows of the history are damaged.
    mutating func reset(to newVersions: StateVersions) throws(JSONError) {
        let minimum = versions.minimumAppVersion
        versions = newVersions
        versions.raiseMinimumAppVersion(to: minimum)
        let mark = newVersions.lastRun
        history = History(rows: try history.rows().filter { $0.version <= mark && $0.previousVersion < mark })
        droppedVersion = .zero
    }

    /// Sets the count of crashes to zero for every pending migration.
    ///
    /// The limit of attempts counts only crashes, so every pending migration may run again. The numbers of
    /// attempts are kept.
    package mutating func resetAttempts() {
        if var latest = versions.latestAttempt {
            latest.migration.crashCount = 0
            // Setting the count to zero isn't enough: the next start counts an attempt without a stored
            // failure as a crash (see `LatestAttempt.outcome`). So store a failure.
            if latest.failure == nil { latest.failure = LatestAttempt.resetAfterCrash }
            versions.latestAttempt = latest
        }
        for index in versions.otherAttempts.indices { versions.otherAttempts[index].crashCount = 0 }
    }
}

// The changes during an attempt to run a migration.
extension MigrationState {
    /// Records that an attempt has begun.
    ///
    /// This is saved before the closure runs. So if the process crashes, the next start finds the attempt.
    /// It also makes room in the history for the row that follows, so that damage is found before the
    /// closure runs.
    ///
    /// - Throws: ``JSONError`` if a row has to be dropped, and the rows of the history are damaged.
    package mutating func begin(
        _ attempt: LatestAttempt,
        minimumAppVersion: AppVersion
    ) throws(JSONError) {
        versions.raiseMinimumAppVersion(to: minimumAppVersion)
        versions.begin(attempt)
        versions.launched = max(versions.launched, attempt.migration.appVersion)
        try dropOldestRows(history.count + 1 - Self.historyLimit)
    }

    /// Drops the oldest `count` rows of the history; if `count` isn't positive, nothing.
    mutating func dropOldestRows(_ count: Int) throws(JSONError) {
        if count > 0 { droppedVersion = max(droppedVersion, try history.removeOldest(count)) }
    }

    /// Adds a checkpoint to the running attempt.
    ///
    /// The text is compared with the checkpoint of `initial`, which is the attempt as it was when it began.
    /// If it differs, the closure got further, and its count of crashes becomes zero. If it is the same, the
    /// count becomes that of `initial` again.
    ///
    /// It isn't compared with the previous checkpoint of the same attempt. A closure may start over in each
    /// attempt, reach the same checkpoint, and crash. At that checkpoint, the count of crashes is back, so
    /// such a crash loop ends at the limit.
    ///
    /// If `progress` is `nil`, the progress of the previous checkpoint is kept.
    package mutating func saveCheckpoint(
        _ text: String,
        progress: Double?,
        comparedWith initial: AttemptedMigration
    ) {
        let checkpoint = Checkpoint(
            text: text,
            appVersion: initial.appVersion,
            progress: progress ?? versions.latestAttempt?.migration.checkpoint?.progress
        )
        let crashCount = initial.checkpoint?.text == text ? initial.crashCount : 0
        versions.latestAttempt?.migration.checkpoint = checkpoint
        versions.latestAttempt?.migration.crashCount = crashCount
    }

    /// Records that the attempt failed with an error.
    package mutating func fail(_ error: any Error) {
        let isCancelled = MigrationError.isCancellation(error)
        let failure = isCancelled ? LatestAttempt.cancellation : String(describing: error)
        // Count Unicode scalars, not characters: a character can consist of any number of scalars, and the
        // size of a state is limited.
        versions.latestAttempt?.failure = String(failure.unicodeScalars.prefix(Self.failureLimit))
    }

    /// Records that a migration was applied: raises the last-run version, and adds `row` to the history.
    package mutating func record(_ row: AppliedMigration) {
        versions.record(row.version)
        versions.launched = max(versions.launched, row.appVersion)
        history.append(row)
    }
}

extension MigrationState {
    /// True if the history contains this row.
    ///
    /// A row is always written as the same bytes, so none of the other rows is read.
    package func hasRow(_ row: AppliedMigration) -> Bool { history.contains(row) }
}

extension MigrationState {
    /// Reads the rows of the history.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` if they are damaged.
    package func rows(at location: StateLocation) throws(MigrationError) -> [AppliedMigration] {
        do throws(JSONError) {
            return try history.rows()
        } catch {
            throw .corrupted(location, because: error)
        }
    }

    /// Reads the versions that have run.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` if the rows of the history are damaged.
    package func appliedVersions(at location: StateLocation) throws(MigrationError) -> AppliedVersions {
        AppliedVersions(
            versions: versions,
            recorded: try rows(at: location).map(\.version),
            dropped: droppedVersion
        )
    }
}
