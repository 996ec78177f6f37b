import AppMigrations

/// The plan of one run: its data, the versions of the app that are started, and the disturbance.
///
/// A *starting point* is the data that a run begins with. A run has one or more *starts* of the app. Each of
/// them is a ``Launch``.
struct Scenario {
    enum Kind: Equatable {
        /// Nothing runs: the declared versions are listed.
        case listing
        /// The current release upgrades the data directly.
        case jump
        /// Each release upgrades the data in turn.
        case steps
        /// The process crashes.
        ///
        /// `number` says which moment of this kind it is, because a closure can have several checkpoints or
        /// commits.
        case death(ObservedMoment, number: Int)
        /// The closure throws once, at its end.
        case failure(AppVersion)
        /// The migration is declared out of order, and added after all later migrations have run.
        case addedLate(AppVersion)
        /// An older release starts on the data of the current release, which it must no longer change.
        case olderRelease(AppVersion)
        /// The release of the starting point writes, and then the current release upgrades the data.
        case writtenBefore(AppVersion)
        /// After this migration of the current release, the release of the starting point writes.
        case writtenBetween(AppVersion, after: AppVersion)
        /// An older release was killed at its first start on a new device, before it created any data. Then
        /// the app was updated.
        case interruptedInstall(AppVersion)
        /// The app starts with the answer of its own `firstRun:`.
        case ownAnswer
        /// The app starts again on data that it has upgraded, after the state was lost.
        case stateLost
        /// The app was killed at this moment, the state was lost, and the app starts with the answer of its
        /// own `firstRun:`.
        case stateLostWhileMigrating(ObservedMoment, number: Int)

        /// The migration whose closure throws.
        var failingVersion: AppVersion? {
            if case .failure(let version) = self { version } else { nil }
        }

        /// The migration that the first start doesn't declare yet.
        var missingVersion: AppVersion? {
            if case .addedLate(let version) = self { version } else { nil }
        }

        /// True if the app's `firstRun:` is asked about the data before the start.
        var asksFirstRun: Bool {
            switch self {
            case .stateLost, .stateLostWhileMigrating: true
            default: false
            }
        }

        /// False if the data at the end can't be compared with other runs.
        ///
        /// An interrupted install has no data. A run in which an older release writes before the upgrade is
        /// compared only with the runs in which that release writes the same in the middle of the upgrade.
        var hasExpectedData: Bool {
            switch self {
            case .interruptedInstall, .writtenBefore: false
            default: true
            }
        }
    }

    let kind: Kind
    /// The index of the starting point.
    let point: Int
    /// The versions of the app to start, in order.
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
        case .addedLate(let version): "\(version) added after later migrations had run"
        case .olderRelease(let version): "then \(version) started"
        case .writtenBefore(let release): "in one jump, after \(release) wrote"
        case .writtenBetween(let release, let version): "\(release) wrote after \(version) had run"
        case .interruptedInstall(let version): "updated after \(version) was killed at its first start"
        case .ownAnswer: "with the answer of firstRun"
        case .stateLost: "after the state was lost"
        case .stateLostWhileMigrating(let moment, let number):
            "\(Self.killed(at: moment, number: number)), and the state was lost"
        case .death(let moment, let number): Self.killed(at: moment, number: number)
        }
    }

    private static func killed(at moment: ObservedMoment, number: Int) -> String {
        switch moment.place {
        case .declared, .beforeAttempt: "killed before \(moment.version) was recorded as begun"
        case .beforeClosure: "killed before the closure of \(moment.version)"
        case .afterSynchronize: "killed after synchronize \(number) of \(moment.version)"
        case .beforeCommit: "killed before commit \(number) of \(moment.version)"
        case .afterCommit: "killed after commit \(number) of \(moment.version)"
        case .beforeCheckpoint: "killed before checkpoint \(number) of \(moment.version)"
        case .afterCheckpoint: "killed after checkpoint \(number) of \(moment.version)"
        case .returned, .beforeRecord: "killed after the closure of \(moment.version)"
        case .afterRecord: "killed after \(moment.version) was recorded as done"
        }
    }

    /// What to report if a run fails or doesn't end with the expected data.
    struct Verdict {
        let kind: RehearsalFinding.Kind
        /// The migration whose closure runs again in this run.
        var version: AppVersion?
        /// Begins with a space, unless it is empty.
        var advice = ""
    }

    var verdict: Verdict {
        switch kind {
        case .listing, .jump: return Verdict(kind: .startsDiffer)
        case .steps: return Verdict(kind: .stepsDiffer)
        case .addedLate(let version):
            let advice =
                " Migration \(version) is declared with addedIn:. It must also work on data that later migrations "
                + "have already changed."
            return Verdict(kind: .stepsDiffer, advice: advice)
        case .olderRelease:
            let advice =
                " At each start, check requiredAppVersion before anything is read or written, and don't continue if "
                + "it isn't nil."
            return Verdict(kind: .olderReleaseWrites, advice: advice)
        case .writtenBefore: return Verdict(kind: .startsDiffer)
        case .writtenBetween(let release, let version):
            let advice =
                " When migration \(version) has run and the next one has failed, a user can go back to \(release), which "
                + "writes its own form of the data. Convert that at every start, after the migrations. Or let one migration "
                + "do both steps."
            return Verdict(kind: .writtenBetween, advice: advice)
        case .interruptedInstall(let version):
            let advice =
                " Release \(version) can be killed at its first start, before it creates its data. The migrations "
                + "after it must also work in an empty folder."
            return Verdict(kind: .failed, advice: advice)
        case .ownAnswer, .stateLost:
            let advice =
                " Return the version of the data from firstRun:, or let the migrations check what is already done."
            return Verdict(kind: .firstRunRepeats, advice: advice)
        case .stateLostWhileMigrating(let moment, _):
            let advice =
                " In firstRun:, look for the last thing that migration \(moment.version) creates. Or let the "
                + "migration create it under another name, and rename it at its end."
            return Verdict(kind: .firstRunSkips, advice: advice)
        case .failure(let version): return notRepeatable(version)
        case .death(let moment, _):
            switch moment.place {
            case .declared, .beforeAttempt, .beforeClosure, .afterRecord:
                return Verdict(kind: .notCompleted)
            case .afterSynchronize, .returned, .beforeRecord:
                return notRepeatable(moment.version)
            case .beforeCommit, .afterCommit:
                let advice =
                    "doesn't continue correctly after its last committed batch. A batch must not rely on values that "
                    + "an earlier batch left in memory, and its work outside of its transaction must be repeatable."
                return notContinued(moment.version, advice)
            case .beforeCheckpoint, .afterCheckpoint:
                let advice =
                    "doesn't continue correctly from its checkpoint. Begin at the saved checkpoint, save a checkpoint "
                    + "only after the work that it records, and make the work after a checkpoint repeatable."
                return notContinued(moment.version, advice)
            }
        }
    }

    private func notRepeatable(_ version: AppVersion) -> Verdict {
        let advice =
            " Migration \(version) is not repeatable. Let it check what is already done."
        return Verdict(kind: .notRepeatable, version: version, advice: advice)
    }

    private func notContinued(_ version: AppVersion, _ advice: String) -> Verdict {
        Verdict(kind: .notContinued, version: version, advice: " Migration \(version) \(advice)")
    }
}
