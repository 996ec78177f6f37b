import AppMigrations

/// One run: the starts of the app on the data of one starting point, and what disturbs them.
struct Scenario {
    enum Kind: Equatable {
        /// Nothing runs: the declared versions are listed.
        case listing
        case jump
        case steps
        /// `number` counts the moments of the same kind, of which one closure can have many.
        case death(RehearsalMoment, number: Int)
        /// The closure throws once, after all that it does.
        case failure(AppVersion)
        /// The migration, declared out of order, is added once all above it have run.
        case late(AppVersion)
        /// An older release starts on the data of this one, which is not for it any more.
        case older(AppVersion)
        /// The app starts as its own `firstRun:` answers.
        case answered
        /// The app starts once more on data that it has upgraded, without the state that says so.
        case lost
        /// The app was killed at this moment, the state was lost, and the app starts as its own `firstRun:` answers.
        case lostWhileMigrating(RehearsalMoment)

        /// True if the app's `firstRun:` is asked about the data before the start.
        var asksFirstRun: Bool {
            switch self {
            case .lost, .lostWhileMigrating: true
            default: false
            }
        }
    }

    let kind: Kind
    /// The starting point's place in the list.
    let point: Int
    /// The app's versions to be started.
    let launches: [AppVersion]
    /// The answer of the app about the data, instead of the starting point's.
    var answer: MigrationManager.FirstRun?
    /// The data that a death left, for the next start to find.
    var image: RunImage?
    /// The versions that had run before the first of these starts.
    var ranBefore: [AppVersion] = []

    var title: String {
        switch kind {
        case .listing: "listing"
        case .jump: "in one jump"
        case .steps: "step by step"
        case .failure(let version): "after \(version) threw at its end"
        case .late(let version): "\(version) added after those above it ran"
        case .older(let version): "\(version) started after it"
        case .answered: "as firstRun answers"
        case .lost: "after the state was lost"
        case .lostWhileMigrating(let moment): "after the state was lost inside \(moment.version)"
        case .death(let moment, let number):
            switch moment.place {
            case .afterCopying, .beforeInterruption: "killed before the intent of \(moment.version)"
            case .beforeClosure: "killed before the closure of \(moment.version)"
            case .afterSynchronize: "killed after synchronize \(number) of \(moment.version)"
            case .beforeCommit: "killed before commit \(number) of \(moment.version)"
            case .afterCommit: "killed after commit \(number) of \(moment.version)"
            case .beforeCheckpoint: "killed before checkpoint \(number) of \(moment.version)"
            case .afterCheckpoint: "killed after checkpoint \(number) of \(moment.version)"
            case .beforeRecord: "killed after the closure of \(moment.version)"
            case .afterRecord: "killed after the record of \(moment.version)"
            }
        }
    }

    /// The migration whose closure is begun again in this run, and its fault where that does harm.
    var begunAgain: (version: AppVersion, kind: RehearsalFinding.Kind, advice: String)? {
        let repeated =
            "is not repeatable: let it find out what is done already, or name what it changes in protecting:."
        let commit =
            "doesn't go on at its last commit: let a batch keep nothing in memory for the next one, and let what it "
            + "does outside of its transaction be done twice."
        let checkpoint =
            "doesn't go on at its checkpoint: begin after it, save it after the work that it records, and let the "
            + "work after it be done twice."
        switch kind {
        case .failure(let version): return (version, .notRepeatable, repeated)
        case .death(let moment, _):
            switch moment.place {
            case .afterCopying, .beforeInterruption, .beforeClosure, .afterRecord: return nil
            case .afterSynchronize, .beforeRecord: return (moment.version, .notRepeatable, repeated)
            case .beforeCommit, .afterCommit: return (moment.version, .notContinued, commit)
            case .beforeCheckpoint, .afterCheckpoint: return (moment.version, .notContinued, checkpoint)
            }
        default: return nil
        }
    }

    /// The finding where a run ends otherwise than it should, and what to do.
    var verdict: (kind: RehearsalFinding.Kind, advice: String) {
        let older =
            " Ask for requiredAppVersion at each start, before anything is read or written, and stop there."
        let asked =
            " Answer the version that the data is at, or let its migrations find out what is done already."
        switch kind {
        case .listing, .jump: return (.startsDiffer, "")
        case .steps: return (.stepsDiffer, "")
        case .late(let version):
            let way = "let it work on the data of the versions above it, too"
            return (.stepsDiffer, " Migration \(version) is declared out of order: \(way).")
        case .older: return (.olderReleaseWrites, older)
        case .answered, .lost: return (.firstRunRepeats, asked)
        case .lostWhileMigrating(let moment):
            let way =
                "Let firstRun: look for what migration \(moment.version) makes last, or make it under another name first."
            return (.firstRunSkips, " " + way)
        case .death, .failure:
            guard let (version, kind, advice) = begunAgain else { return (.notCompleted, "") }
            return (kind, " Migration \(version) \(advice)")
        }
    }
}

/// A copy of data and state, made while the runner or the closure stood still: what a death there leaves.
struct RunImage {
    let path: String
    let moment: RehearsalMoment
    let number: Int
    /// The versions that had run by then.
    let ran: [AppVersion]

    /// True if the closure had done something, and not returned.
    var isInsideClosure: Bool {
        switch moment.place {
        case .afterCheckpoint, .afterSynchronize, .afterCommit: true
        default: false
        }
    }
}

/// One start of the app within a run.
struct Launch {
    let manager: MigrationManager
    /// The path of the data.
    let folder: String
    let recorder: LaunchRecorder
    let began = ContinuousClock.now
}
