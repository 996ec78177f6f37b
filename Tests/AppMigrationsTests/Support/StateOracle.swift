import Foundation

@testable import AppMigrations

/// A state as Foundation reads and writes it.
struct StateOracle: Codable {
    struct Attempt: Codable {
        var version: String
        var attemptCount: Int
        var crashCount: Int
        var appVersion: String
        var checkpoint: String?
        var checkpointAppVersion: String?
        var progress: Double?
        /// These two are there for the latest attempt alone.
        var startedAt: String?
        var failure: String?
    }

    struct Row: Codable {
        var version: String
        var previousVersion: String
        var appVersion: String
        var finishedAt: String
        var duration: Double
        var attemptCount: Int
    }

    var format: Int
    var name: String
    var lastRunVersion: String
    var baseline: String?
    var launchedVersion: String?
    var freshInstall: String?
    var minimumAppVersion: String?
    var latestAttempt: Attempt?
    var otherAttempts: [Attempt]?
    var droppedVersion: String?
    var history: [Row]?

    init(_ state: MigrationState) throws {
        format = MigrationState.format
        name = state.name
        lastRunVersion = state.versions.lastRun.description
        baseline = state.versions.baseline.description
        launchedVersion = state.versions.launched.description
        freshInstall = state.versions.freshInstall?.description
        minimumAppVersion = state.versions.minimumAppVersion.description
        latestAttempt = state.versions.latestAttempt.map { latest in
            var attempt = Self.attempt(latest.migration)
            attempt.startedAt = Self.text(latest.startedAt)
            attempt.failure = latest.failure
            return attempt
        }
        otherAttempts = state.versions.otherAttempts.map(Self.attempt)
        droppedVersion = state.droppedVersion.description
        history = try state.history.rows().map {
            Row(
                version: $0.version.description,
                previousVersion: $0.previousVersion.description,
                appVersion: $0.appVersion.description,
                finishedAt: Self.text($0.finishedAt),
                duration: Self.seconds($0.duration),
                attemptCount: $0.attemptCount
            )
        }
    }

    private static func attempt(_ attempt: AttemptedMigration) -> Attempt {
        Attempt(
            version: attempt.version.description,
            attemptCount: attempt.attemptCount,
            crashCount: attempt.crashCount,
            appVersion: attempt.appVersion.description,
            checkpoint: attempt.checkpoint?.text,
            checkpointAppVersion: attempt.checkpoint?.appVersion.description,
            progress: attempt.checkpoint?.progress
        )
    }

    /// The first difference from `state`; `nil` if both say the same.
    ///
    /// Throws if the rows of the state's history can't be read.
    func difference(from state: MigrationState) throws -> String? {
        let ours = try StateOracle(state)
        if format != 1 { return "format" }
        if Array(name.utf8) != Array(state.name.utf8) { return "name" }
        if !same(lastRunVersion, ours.lastRunVersion) { return "lastRunVersion" }
        if !same(baseline ?? lastRunVersion, ours.baseline) { return "baseline" }
        if !same(launchedVersion ?? lastRunVersion, ours.launchedVersion) { return "launchedVersion" }
        if freshInstall.flatMap({ AppVersion($0)?.description }) != ours.freshInstall {
            return "freshInstall"
        }
        if !same(minimumAppVersion ?? "0", ours.minimumAppVersion) { return "minimumAppVersion" }
        if (latestAttempt == nil) != (ours.latestAttempt == nil) { return "latestAttempt" }
        if let theirs = latestAttempt, let ours = ours.latestAttempt {
            let isSame =
                same(theirs, ours) && theirs.startedAt == ours.startedAt
                && theirs.failure.map { Array($0.utf8) } == ours.failure.map { Array($0.utf8) }
            if !isSame { return "latestAttempt" }
        }
        let others = otherAttempts ?? []
        if !others.elementsEqual(ours.otherAttempts ?? [], by: same) { return "otherAttempts" }
        if !same(droppedVersion ?? "0", ours.droppedVersion) { return "droppedVersion" }
        let (theirs, rows) = (history ?? [], ours.history ?? [])
        if theirs.count != rows.count { return "history" }
        for (index, (theirs, ours)) in zip(theirs, rows).enumerated() {
            let isSame =
                same(theirs.version, ours.version) && same(theirs.previousVersion, ours.previousVersion)
                && same(theirs.appVersion, ours.appVersion) && theirs.finishedAt == ours.finishedAt
                && abs(theirs.duration - ours.duration) <= 1e-9 + theirs.duration.ulp
                && theirs.attemptCount == ours.attemptCount
            if !isSame { return "row \(index)" }
        }
        return nil
    }

    /// Compares what the latest attempt and all others have in common.
    private func same(_ theirs: Attempt, _ ours: Attempt) -> Bool {
        same(theirs.version, ours.version) && same(theirs.appVersion, ours.appVersion)
            && theirs.attemptCount == ours.attemptCount && theirs.crashCount == ours.crashCount
            && sameCheckpoint(theirs, ours)
    }

    /// Compares two checkpoints: without a text there is no checkpoint, whatever else the attempt has.
    private func sameCheckpoint(_ theirs: Attempt, _ ours: Attempt) -> Bool {
        guard let text = theirs.checkpoint else { return ours.checkpoint == nil }
        guard let version = theirs.checkpointAppVersion else { return false }
        return ours.checkpoint.map { Array($0.utf8) } == Array(text.utf8)
            && same(version, ours.checkpointAppVersion) && theirs.progress == ours.progress
    }

    /// Versions are the same if they read the same: leading zeros don't count.
    private func same(_ theirs: String, _ ours: String?) -> Bool { AppVersion(theirs)?.description == ours }

    /// Foundation uses the Julian calendar before 15 October 1582, and ISO 8601 doesn't.
    private static func text(_ seconds: Int64) -> String {
        if seconds < -12_219_292_800 { return Timestamp.text(seconds) }
        return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}

extension MigrationState {
    /// Reads the state in a text, or returns `nil` if it is refused.
    init?(reading bytes: [UInt8], name: String) {
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
