import AppMigrations

/// One run: the starts of the app on the data of one starting point, and how they are disturbed.
struct Scenario {
    enum Kind: Equatable {
        /// Nothing runs: the declared versions are listed.
        case listing
        case jump
        case steps
        /// The process crashes.
        ///
        /// `number` counts the moments of the same kind, because a closure can have several.
        case death(RehearsalMoment, number: Int)
        /// The closure throws once, at its end.
        case failure(AppVersion)
        /// The migration is declared out of order, and added after all migrations above it have run.
        case late(AppVersion)
        /// An older release starts on the data of this release, which it must not change any more.
        case older(AppVersion)
        /// An older release was killed at its first start on a new device, before it created any data. Then
        /// the app was updated.
        case interruptedInstall(AppVersion)
        /// The app starts with the answer of its own `firstRun:`.
        case answered
        /// The app starts again on data that it has upgraded, after the state was lost.
        case lost
        /// The app was killed at this moment, the state was lost, and the app starts with the answer of its
        /// own `firstRun:`.
        case lostWhileMigrating(RehearsalMoment)

        /// True if the app's `firstRun:` is asked about the data before the start.
        var asksFirstRun: Bool {
            switch self {
            case .lost, .lostWhileMigrating: true
            default: false
            }
        }

        /// False if the data at the end differs from that of the other runs, because nobody created it.
        var hasExpectedData: Bool {
            if case .interruptedInstall = self { false } else { true }
        }
    }

    let kind: Kind
    /// The starting point's index in the list.
    let point: Int
    /// The app's versions to be started.
    let launches: [AppVersion]
    /// The app's answer about the data, which replaces that of the starting point.
    var answer: MigrationManager.FirstRun?
    /// The data that a crash left for the next start.
    var image: RunImage?
    /// The versions that had run before the first start.
    var ranBefore: [AppVersion] = []

    var title: String {
        switch kind {
        case .listing: "listing"
        case .jump: "in one jump"
        case .steps: "step by step"
        case .failure(let version): "after \(version) threw at its end"
        case .late(let version): "\(version) added after those above it ran"
        case .older(let version): "\(version) started after it"
        case .interruptedInstall(let version): "updated after \(version) was killed at its first start"
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

    /// The migration whose closure runs again in this run, with the finding and the advice to report if that
    /// does harm.
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

    /// The finding and the advice to report if the run doesn't end with the expected data.
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
        case .interruptedInstall(let version):
            let fact = "Release \(version) can be killed at its first start, before it creates its data."
            return (.failed, " \(fact) Let the migrations after it accept that nothing exists.")
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
