/// The part of the state that a start needs, without the history.
///
/// A state consists of references to constants, like this one. Structs of so many words would be copied in each function that they
/// pass, and that would be a fifth of this library's code.
package final class StateMarks: Sendable {
    package let lastRun: AppVersion
    package let baseline: AppVersion
    package let launched: AppVersion
    /// The version of the app that made the state as a fresh install; `nil` once a first start got through its declarations.
    ///
    /// While it is there, an app of that very version takes the sub-migrations of its release into the baseline.
    package let freshInstall: AppVersion?
    /// The oldest app that may use the data; zero where every app may.
    package let minimumAppVersion: AppVersion
    /// The migration whose closure was begun last.
    package let interruption: Interruption?
    /// The attempts at pending versions besides the interrupted one.
    let attempted: [AttemptedMigration]

    /// The marks of `base` but for what is given; without a base those of a state in which nothing ran and no app was launched.
    ///
    /// A fresh install ends with the launch of another version.
    package init(
        _ base: StateMarks? = nil,
        lastRun: AppVersion? = nil,
        baseline: AppVersion? = nil,
        launched: AppVersion? = nil,
        freshInstall: AppVersion? = nil,
        minimumAppVersion: AppVersion? = nil,
        attempts: (Interruption?, [AttemptedMigration])? = nil
    ) {
        self.lastRun = lastRun ?? base?.lastRun ?? .zero
        self.baseline = baseline ?? base?.baseline ?? .zero
        self.launched = launched ?? base?.launched ?? .zero
        let isLaunchOfBase = self.launched == base?.launched
        self.freshInstall = freshInstall ?? (isLaunchOfBase ? base?.freshInstall : nil)
        self.minimumAppVersion = minimumAppVersion ?? base?.minimumAppVersion ?? .zero
        (interruption, attempted) = attempts ?? (base?.interruption, base?.attempted ?? [])
    }

    /// True if files wait to be put back, or may have to be.
    var hasLeftover: Bool { interruption?.isProtecting == true }
}

extension StateMarks {
    /// True if a newer release than `current` ran migrations here, was launched, or shut `current` out.
    ///
    /// A start says so, and it decides about no declaration: a release that was only launched has changed nothing.
    ///
    /// The floor counts by itself: it is saved with the intent, and the newer release may have died in its closure before
    /// anything else of it was saved.
    package func isDowngrade(to current: AppVersion) -> Bool {
        lastRun.exceeds(current) || launched.exceeds(current) || minimumAppVersion.exceeds(current)
    }

    /// The newest version of what ran, was launched and is asked for here: the release, where that lies above `current`.
    package func newest(above current: AppVersion) -> AppVersion {
        let release = max(lastRun.release, launched, minimumAppVersion.release)
        return release > current ? release : max(lastRun, minimumAppVersion)
    }

    /// The newest version above `current` that a newer app has begun; `nil` if there is none.
    ///
    /// It is that of a migration whose closure was called, or of the floor that was saved with one.
    package func begun(above current: AppVersion) -> AppVersion? {
        var versions = [minimumAppVersion] + attempted.map(\.version)
        if let interruption { versions.append(interruption.version) }
        return Self.newest(of: versions, above: current)
    }

    /// The newest version above `current` that a newer app has recorded, its floor included; `nil` if there is none.
    package func recorded(above current: AppVersion) -> AppVersion? {
        Self.newest(of: [lastRun, minimumAppVersion], above: current)
    }

    /// A sub-migration counts by its release, unless `current` is of that release.
    private static func newest(of versions: [AppVersion], above current: AppVersion) -> AppVersion? {
        versions.filter { $0.exceeds(current) }.map { $0.release > current ? $0.release : $0 }.max()
    }

    /// The floor, where an app at `current` lies below it.
    package func floor(above current: AppVersion) -> AppVersion? {
        minimumAppVersion.exceeds(current) ? minimumAppVersion : nil
    }

    /// True if an app of this version begins with new data, so that the sub-migrations of its release belong to the baseline.
    package func isFreshInstall(of current: AppVersion) -> Bool { freshInstall == current }

    /// The marks once a first start got through its declarations.
    func endingFreshInstall() -> StateMarks {
        StateMarks(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            minimumAppVersion: minimumAppVersion,
            attempts: (interruption, attempted)
        )
    }

    func raisingFloor(to version: AppVersion) -> StateMarks {
        StateMarks(self, minimumAppVersion: max(minimumAppVersion, version))
    }

    /// The attempts at a pending version; the process that was interrupted in it counts as dead.
    package func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let interruption, interruption.version == version { return interruption.outcome }
        return attempted.first { $0.version == version }
    }

    /// The marks with a new attempt.
    ///
    /// The version interrupted before is still pending, so what is known of it is kept.
    func beginning(_ attempt: Interruption) -> StateMarks {
        var waiting = attempted.filter { $0.version != interruption?.version }
        if let interruption { waiting.append(interruption.outcome) }
        return StateMarks(self, attempts: (attempt, waiting.filter { $0.version != attempt.version }))
    }

    /// The marks after `version` was recorded, with a last-run version of at least that.
    ///
    /// Attempts at versions that are passed over are forgotten: these don't run any more. An attempt at or below the last-run version
    /// was made out of order, so it is kept until its own version is recorded.
    func passing(_ version: AppVersion) -> StateMarks {
        let mark = max(lastRun, version)
        let isKept = { [lastRun] (attempt: AppVersion) in
            attempt != version && (attempt > mark || attempt <= lastRun)
        }
        let waiting = interruption.flatMap { isKept($0.version) ? $0 : nil }
        return StateMarks(
            self,
            lastRun: mark,
            attempts: (waiting, attempted.filter { isKept($0.version) })
        )
    }
}

/// A migration whose closure was begun and isn't recorded.
package final class Interruption: Sendable {
    /// A stand-in for the error of an attempt whose task was cancelled, which is no failure.
    static var cancellation: String { "The task was cancelled." }

    /// Its attempts, this one included: `deaths` counts the processes before this one.
    package let known: AttemptedMigration
    /// True if a snapshot holds files that are to be put back; the list in it says which.
    let isProtecting: Bool
    let startedAt: Int64
    /// The error that ended the attempt; `nil` while the closure runs, or when its process died.
    package let failure: String?
    /// Which host of a fleet is at work; `nil` where the state is a file, whose lock says that, and where none is.
    package let lease: Lease?

    package init(
        _ known: AttemptedMigration,
        isProtecting: Bool = false,
        at startedAt: Int64,
        failure: String? = nil,
        _ lease: Lease? = nil
    ) {
        (self.known, self.isProtecting, self.startedAt) = (known, isProtecting, startedAt)
        (self.failure, self.lease) = (failure, lease)
    }

    package var version: AppVersion { known.version }

    /// This attempt, or another count of it, with what ended it or the lease by which it goes on.
    func with(_ known: AttemptedMigration? = nil, failure: String?, _ lease: Lease? = nil) -> Interruption {
        Interruption(known ?? self.known, isProtecting: isProtecting, at: startedAt, failure: failure, lease)
    }

    /// The attempts with this one, which has ended: without a failure its process died.
    var outcome: AttemptedMigration { failure == nil ? known.with(deaths: known.deaths + 1) : known }
}

/// The attempts at a pending version.
package final class AttemptedMigration: Sendable {
    package let version: AppVersion
    /// How often its closure was begun.
    package let attempts: Int
    /// How many processes of `appVersion` died in it.
    package let deaths: Int
    package let appVersion: AppVersion
    /// How far the closure came in the last attempt or an earlier one.
    package let checkpoint: Checkpoint?
    /// True while no attempt has got further than copying what `protecting:` names: no closure has begun, so nothing of the data is
    /// changed.
    package let isCopying: Bool

    package init(
        _ version: AppVersion,
        attempts: Int = 1,
        deaths: Int = 0,
        by appVersion: AppVersion,
        _ checkpoint: Checkpoint? = nil,
        isCopying: Bool = false
    ) {
        self.version = version
        self.attempts = attempts
        self.deaths = deaths
        self.appVersion = appVersion
        self.checkpoint = checkpoint
        self.isCopying = isCopying
    }

    /// True if a closure has begun, so that the data may be changed: what other releases of the app have to respect.
    package var hasBegun: Bool { !isCopying }

    /// The next attempt, which counts the deaths of this version of the app alone.
    func next(by app: AppVersion) -> AttemptedMigration {
        let deaths = app == appVersion ? deaths : 0
        return AttemptedMigration(version, attempts: attempts + 1, deaths: deaths, by: app, checkpoint)
    }

    func with(deaths: Int, _ checkpoint: Checkpoint? = nil) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths,
            by: appVersion,
            checkpoint ?? self.checkpoint,
            isCopying: isCopying
        )
    }

    /// This attempt before its files are copied; `earlier` is what was known of the version before it.
    func copying(after earlier: AttemptedMigration?) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths,
            by: appVersion,
            checkpoint,
            isCopying: !(earlier?.hasBegun ?? false)
        )
    }
}

/// How far the closure of a migration came, in its own words.
package struct Checkpoint: Sendable {
    package let text: String
    /// The version of the app that wrote `text`.
    package let appVersion: AppVersion
    /// How much was done then, from 0 to 1.
    let progress: Double?

    package static var sizeLimit: Int { 4_096 }
}

/// Says in the state which host of a fleet runs the interrupted migration, and that it still does.
package struct Lease: Sendable {
    /// The host, the process and a random number, which no other holder has.
    package let owner: String
    /// Rises with each renewal.
    package internal(set) var beat: Int
    /// Rises with each lease of this state, whoever holds it.
    package let fence: Int
    /// How long a host that waits has to see the state unchanged before it takes over.
    package let length: Duration
}

extension Lease {
    package init(_ owner: String, fence: Int, length: Duration) {
        self.init(owner: owner, beat: 0, fence: fence, length: length)
    }

    /// True if the two are of one attempt, whatever the beat.
    package func isOfHolder(_ other: Lease) -> Bool {
        FilePaths.isSame(owner, other.owner) && fence == other.fence
    }
}
