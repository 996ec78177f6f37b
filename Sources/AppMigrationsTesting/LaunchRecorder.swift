import AppMigrations

/// Observes one start of the app.
///
/// During a jump, it copies the data at each moment. For some scenarios, it throws an error at the end of a
/// closure, skips a declaration, or stops the declarations.
final class LaunchRecorder: ManagerObserver {
    struct Record: Sendable {
        var declared: [AppVersion] = []
        /// The versions that are declared with `addedIn:`.
        var addedLater: Set<AppVersion> = []
        var ran: [AppVersion] = []
        var images: [RunImage] = []
        var changedOriginals: [ChangedOriginal] = []
        var isStopped = false
        /// The time that was spent copying images, which isn't counted as the app's time.
        var copying = Duration.zero
        /// The error of the first image or original that could not be copied or compared.
        var problem: (any Error)?
    }

    /// The error that the rehearsal throws in place of a closure.
    struct RehearsedFailure: Error, CustomStringConvertible {
        let description = "Thrown by the rehearsal."
    }

    /// The migration whose closure throws in this start.
    private let failing: AppVersion?
    /// The migration that the release of this start doesn't have yet.
    private let missing: AppVersion?
    private let kind: Scenario.Kind
    /// The version of a simulated older release, which knows no later migrations; `nil` for the current
    /// release.
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

    func observe(_ moment: ObservedMoment) -> ObserverAnswer {
        switch moment.place {
        case .declared(let addedIn): return declared(moment.version, addedIn: addedIn)
        case .returned:
            state.withLock { $0.ran.append(moment.version) }
            if kind == .jump, let original = moment.replacing {
                compare(original, replacedBy: moment.version)
            }
            return moment.version == failing ? .fail(RehearsedFailure()) : .continue
        default:
            if kind == .jump { copyImage(at: moment) }
            if kind == .jump, moment.place == .beforeClosure, let original = moment.replacing {
                keep(original)
            }
            return .continue
        }
    }

    private func declared(_ version: AppVersion, addedIn: AppVersion?) -> ObserverAnswer {
        state.withLock { record in
            record.declared.append(version)
            if addedIn != nil { record.addedLater.insert(version) }
            if kind == .listing || version == missing { return .skip }
            guard let limit else { return .continue }
            // A release of the main line before `addedIn` doesn't have the migration of the hotfix.
            if let addedIn, addedIn > limit { return .skip }
            if version <= limit { return .continue }
            // The older release should have stopped by itself. The declaration is only skipped, so that the
            // code after the declarations runs, and a comparison shows whether it changes the data.
            if case .olderRelease = kind { return .skip }
            record.isStopped = true
            return .stop
        }
    }

    /// Keeps a copy of what a closure replaces, which the closure must leave as it is.
    private func keep(_ original: String) {
        copying { _ in
            try FolderFiles.removeIfPresent(folders.original)
            if try FolderFiles.entryIfPresent(original) == nil { return }
            try FolderFiles.copy(original, to: folders.original)
        }
    }

    private func compare(_ original: String, replacedBy version: AppVersion) {
        copying { record in
            let change = try ChangedOriginal(at: original, comparedWith: folders.original, by: version)
            if let change { record.changedOriginals.append(change) }
        }
    }

    /// Copies or compares files, in time that isn't counted as the app's; does nothing after an error.
    private func copying(_ body: (inout Record) throws -> Void) {
        state.withLock { record in
            if record.problem != nil { return }
            let began = ContinuousClock.now
            defer { record.copying += ContinuousClock.now - began }
            do { try body(&record) } catch { record.problem = error }
        }
    }

    private func copyImage(at moment: ObservedMoment) {
        copying { record in
            // `beforeAttempt` is the moment before a migration is recorded as begun. Only the first image of
            // this moment shows something new: the state that was just created. A later one would be equal to
            // the image after the previous migration was recorded.
            let isDuplicate = moment.place == .beforeAttempt && !record.images.isEmpty
            if isDuplicate { return }
            let number = record.images.count { $0.moment == moment } + 1
            let path = folders.image(of: moment, number: number)
            try FolderFiles.copy(folders.run, to: path)
            record.images.append(RunImage(path: path, moment: moment, number: number, ran: record.ran))
        }
    }
}
