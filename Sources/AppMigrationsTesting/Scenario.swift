import AppMigrations

/// What one run does: the starts of the app on the data of one starting point, and what disturbs them.
struct Scenario {
    enum Kind: Equatable {
        /// Nothing runs: which versions are declared?
        case listing
        case jump
        case steps
        /// `number` counts the moments of the same kind, of which a closure with checkpoints has many.
        case death(RehearsalHook.Moment, number: Int)
        /// The closure throws once, after all that it does.
        case failure(AppVersion)
        /// An older release starts on the data of this one, which is not for it any more.
        case older(AppVersion)
        /// As the app's own `firstRun:` answers.
        case answered
    }

    let kind: Kind
    /// The starting point's place in the list.
    let point: Int
    /// The app's versions to be started.
    let launches: [AppVersion]
    /// What the app says of the data, instead of the starting point.
    var answer: MigrationManager.FirstRun?
    /// What a death left, for the next start to find.
    var image: RunImage?
    /// What had run before the first of these starts.
    var ranBefore: [AppVersion] = []

    var title: String {
        switch kind {
        case .listing: "listing"
        case .jump: "in one jump"
        case .steps: "step by step"
        case .failure(let version): "after \(version) threw at its end"
        case .older(let version): "\(version) started after it"
        case .answered: "as firstRun answers"
        case .death(let moment, let number):
            switch moment.place {
            case .beforeIntent: "killed before the intent of \(moment.version)"
            case .beforeClosure: "killed before the closure of \(moment.version)"
            case .beforeCheckpoint: "killed before checkpoint \(number) of \(moment.version)"
            case .afterCheckpoint: "killed after checkpoint \(number) of \(moment.version)"
            case .beforeRecord: "killed after the closure of \(moment.version)"
            case .afterRecord: "killed after the record of \(moment.version)"
            }
        }
    }

    /// The migration whose closure has to be repeatable for this run.
    var repeated: AppVersion? {
        switch kind {
        case .failure(let version): version
        case .death(let moment, _): moment.place == .beforeRecord ? moment.version : nil
        default: nil
        }
    }

    /// The migration whose closure has to go on at its checkpoint for this run.
    var continued: AppVersion? {
        guard case .death(let moment, _) = kind else { return nil }
        return moment.place == .beforeCheckpoint || moment.place == .afterCheckpoint ? moment.version : nil
    }
}

/// A copy of data and state, made while the runner stood at a save: what a death there leaves.
struct RunImage {
    let path: String
    let moment: RehearsalHook.Moment
    let number: Int
    /// What had run by then.
    let ran: [AppVersion]
}

/// One start of the app within a run.
struct Launch {
    let manager: MigrationManager
    /// The path of the data.
    let folder: String
    let recorder: LaunchRecorder
    let began = ContinuousClock.now
}
