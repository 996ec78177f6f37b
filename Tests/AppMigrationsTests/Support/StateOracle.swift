import Foundation

@testable import AppMigrations

/// A state as Foundation reads and writes it.
struct StateOracle: Codable {
    struct Attempt: Codable {
        var version: String
        var attempts: Int
        var deaths: Int
        var isProtecting: Bool
        var isCopying: Bool?
        var isRestored: Bool?
        var appVersion: String
        var startedAt: String
        var failure: String?
        var checkpoint: String?
        var checkpointAppVersion: String?
        var progress: Double?
        var owner: String?
        var beat: Int?
        var fence: Int?
        var lease: Double?
    }

    struct Attempted: Codable {
        var version: String
        var attempts: Int
        var deaths: Int
        var isCopying: Bool?
        var isRestored: Bool?
        var appVersion: String
        var checkpoint: String?
        var checkpointAppVersion: String?
        var progress: Double?
    }

    struct Row: Codable {
        var version: String
        var previousVersion: String
        var appVersion: String
        var finishedAt: String
        var duration: Double
        var attempts: Int
    }

    var format: Int
    var name: String
    var lastRunVersion: String
    var baseline: String?
    var launchedVersion: String?
    var freshInstall: String?
    var minimumAppVersion: String?
    var interruption: Attempt?
    var attempted: [Attempted]?
    var fence: Int?
    var droppedVersion: String?
    var history: [Row]?

    init(_ state: MigrationState) {
        format = MigrationState.format
        name = state.name
        lastRunVersion = state.versions.lastRun.description
        baseline = state.versions.baseline.description
        launchedVersion = state.versions.launched.description
        freshInstall = state.versions.freshInstall?.description
        minimumAppVersion = state.versions.minimumAppVersion.description
        interruption = state.versions.interruption.map {
            Attempt(
                version: $0.version.description,
                attempts: $0.attempt.attempts,
                deaths: $0.attempt.deaths,
                isProtecting: $0.isProtecting,
                isCopying: $0.attempt.isCopying,
                isRestored: $0.attempt.isRestored,
                appVersion: $0.attempt.appVersion.description,
                startedAt: Self.text($0.startedAt),
                failure: $0.failure,
                checkpoint: $0.attempt.checkpoint?.text,
                checkpointAppVersion: $0.attempt.checkpoint?.appVersion.description,
                progress: $0.attempt.checkpoint?.progress,
                owner: $0.lease?.owner,
                beat: $0.lease?.beat,
                fence: $0.lease?.fence,
                lease: $0.lease.map { Self.seconds($0.length) }
            )
        }
        fence = state.fence
        droppedVersion = state.droppedVersion.description
        attempted = state.versions.attempted.map {
            Attempted(
                version: $0.version.description,
                attempts: $0.attempts,
                deaths: $0.deaths,
                isCopying: $0.isCopying,
                isRestored: $0.isRestored,
                appVersion: $0.appVersion.description,
                checkpoint: $0.checkpoint?.text,
                checkpointAppVersion: $0.checkpoint?.appVersion.description,
                progress: $0.checkpoint?.progress
            )
        }
        history = state.history.map {
            Row(
                version: $0.version.description,
                previousVersion: $0.previousVersion.description,
                appVersion: $0.appVersion.description,
                finishedAt: Self.text($0.finishedAt),
                duration: Self.seconds($0.duration),
                attempts: $0.attempts
            )
        }
    }

    /// The first difference from `state`; `nil` when the two say the same.
    func difference(from state: MigrationState) -> String? {
        let ours = StateOracle(state)
        if format != 1 { return "format" }
        if Array(name.utf8) != Array(state.name.utf8) { return "name" }
        if !same(lastRunVersion, ours.lastRunVersion) { return "lastRunVersion" }
        if !same(baseline ?? lastRunVersion, ours.baseline) { return "baseline" }
        if !same(launchedVersion ?? lastRunVersion, ours.launchedVersion) { return "launchedVersion" }
        if freshInstall.flatMap({ AppVersion($0)?.description }) != ours.freshInstall {
            return "freshInstall"
        }
        if !same(minimumAppVersion ?? "0", ours.minimumAppVersion) { return "minimumAppVersion" }
        if (interruption == nil) != (ours.interruption == nil) { return "interruption" }
        if let theirs = interruption, let ours = ours.interruption {
            let isSame =
                same(theirs.version, ours.version) && theirs.attempts == ours.attempts
                && theirs.deaths == ours.deaths
                && theirs.isProtecting == ours.isProtecting
                && (theirs.isCopying ?? false) == ours.isCopying
                && (theirs.isRestored ?? false) == ours.isRestored
                && same(theirs.appVersion, ours.appVersion) && theirs.startedAt == ours.startedAt
                && theirs.failure.map { Array($0.utf8) } == ours.failure.map { Array($0.utf8) }
                && sameCheckpoint(
                    (theirs.checkpoint, theirs.checkpointAppVersion, theirs.progress),
                    (ours.checkpoint, ours.checkpointAppVersion, ours.progress)
                )
            if !isSame { return "interruption" }
            // Without an owner the rest says nothing.
            if theirs.owner.map({ Array($0.utf8) }) != ours.owner.map({ Array($0.utf8) }) { return "owner" }
            if theirs.owner != nil {
                let length = abs((theirs.lease ?? -1) - (ours.lease ?? -2))
                if theirs.beat != ours.beat || theirs.fence != ours.fence || length > 1e-6 { return "lease" }
            }
        }
        if (fence ?? 0) != ours.fence { return "fence" }
        if !same(droppedVersion ?? "0", ours.droppedVersion) { return "droppedVersion" }
        let (known, pending) = (attempted ?? [], ours.attempted ?? [])
        let isKnown = known.elementsEqual(pending) {
            same($0.version, $1.version) && $0.attempts == $1.attempts && $0.deaths == $1.deaths
                && ($0.isCopying ?? false) == $1.isCopying
                && ($0.isRestored ?? false) == $1.isRestored
                && same($0.appVersion, $1.appVersion)
                && sameCheckpoint(
                    ($0.checkpoint, $0.checkpointAppVersion, $0.progress),
                    ($1.checkpoint, $1.checkpointAppVersion, $1.progress)
                )
        }
        if !isKnown { return "attempted" }
        let (theirs, rows) = (history ?? [], ours.history ?? [])
        if theirs.count != rows.count { return "history" }
        for (index, (theirs, ours)) in zip(theirs, rows).enumerated() {
            let isSame =
                same(theirs.version, ours.version) && same(theirs.previousVersion, ours.previousVersion)
                && same(theirs.appVersion, ours.appVersion) && theirs.finishedAt == ours.finishedAt
                && abs(theirs.duration - ours.duration) <= 1e-9 + theirs.duration.ulp
                && theirs.attempts == ours.attempts
            if !isSame { return "row \(index)" }
        }
        return nil
    }

    private typealias Saved = (text: String?, appVersion: String?, progress: Double?)

    /// Without a text there is no checkpoint, whatever stands beside it.
    private func sameCheckpoint(_ theirs: Saved, _ ours: Saved) -> Bool {
        guard let text = theirs.text else { return ours.text == nil }
        guard let version = theirs.appVersion else { return false }
        return ours.text.map { Array($0.utf8) } == Array(text.utf8) && same(version, ours.appVersion)
            && theirs.progress == ours.progress
    }

    /// Versions are the same when they read the same: leading zeros don't count.
    private func same(_ theirs: String, _ ours: String?) -> Bool { AppVersion(theirs)?.description == ours }

    /// Foundation's calendar is the Julian one before 15 October 1582, ISO 8601's is not.
    private static func text(_ seconds: Int64) -> String {
        if seconds < -12_219_292_800 { return Timestamp.text(seconds) }
        return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}

extension MigrationState {
    /// The state in a text, or `nil` where it is refused.
    convenience init?(reading bytes: [UInt8], name: String) {
        do throws(MigrationError) {
            try self.init(document: bytes, at: StateLocation(name: name, directory: "/"))
        } catch {
            return nil
        }
    }
}

extension StateHead {
    static func read(_ bytes: [UInt8], name: String) -> StateVersions? {
        bytes.withUnsafeBufferPointer { read($0, name: name) }
    }
}
