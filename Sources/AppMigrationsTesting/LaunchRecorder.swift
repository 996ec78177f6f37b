import AppMigrations

/// Watches one start, through the manager's hook.
final class LaunchRecorder: RehearsalHook {
    struct Record: Sendable {
        var declared: [AppVersion] = []
        /// The versions that also run below the last-run version.
        var outOfOrder: Set<AppVersion> = []
        var ran: [AppVersion] = []
        var images: [RunImage] = []
        var isStopped = false
        /// The time that the images took, which is not the app's.
        var copying = Duration.zero
        /// An image that could not be made.
        var problem: (any Error)?
    }

    /// The error that a closure seems to throw.
    struct RehearsedFailure: Error, CustomStringConvertible {
        let description = "The rehearsal lets it throw."
    }

    /// The migration whose closure is to throw in this start.
    private let failing: AppVersion?
    /// The migration that the release of this start doesn't have yet.
    private let missing: AppVersion?
    private let kind: Scenario.Kind
    /// The last migration that the release knows, or `nil` when it is the current one.
    private let limit: AppVersion?
    private let folders: RehearsalFolders
    private let state = Guarded(Record())

    init(
        _ kind: Scenario.Kind,
        limit: AppVersion?,
        failing: AppVersion?,
        missing: AppVersion?,
        folders: RehearsalFolders
    ) {
        self.kind = kind
        self.failing = failing
        self.missing = missing
        self.limit = limit
        self.folders = folders
    }

    var record: Record { state.withLock { $0 } }

    func declared(_ version: AppVersion, outOfOrder: Bool) -> RehearsalAnswer {
        state.withLock { record in
            record.declared.append(version)
            if outOfOrder { record.outOfOrder.insert(version) }
            if kind == .listing || version == missing { return .skip }
            guard let limit, version > limit else { return .continue }
            // An older release should not come to the code behind the declarations.
            if case .older = kind { return .skip }
            record.isStopped = true
            return .stop
        }
    }

    func returned(_ version: AppVersion) -> (any Error)? {
        state.withLock { $0.ran.append(version) }
        return version == failing ? RehearsedFailure() : nil
    }

    func reached(_ moment: RehearsalMoment) {
        guard kind == .jump else { return }
        state.withLock { record in
            // Before an intent there is something new on the disk only at first, when the state was made, and
            // when files were copied for their protection.
            let isOld = moment.place == .beforeInterruption && !record.images.isEmpty
            guard record.problem == nil, !isOld else { return }
            let began = ContinuousClock.now
            defer { record.copying += ContinuousClock.now - began }
            do {
                let number = record.images.count { $0.moment == moment } + 1
                let path = folders.image(of: moment, number)
                try FolderFiles.copy(folders.run, to: path)
                record.images.append(RunImage(path: path, moment: moment, number: number, ran: record.ran))
            } catch {
                record.problem = error
            }
        }
    }
}
