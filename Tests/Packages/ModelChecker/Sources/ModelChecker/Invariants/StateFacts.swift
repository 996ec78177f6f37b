import AppMigrations
import Foundation
import SimulatedSystem

/// The facts of a state file, read by Foundation's parser instead of the library's.
struct StateFacts {
    let lastRun: AppVersion
    let baseline: AppVersion?
    let launched: AppVersion?
    let interrupted: String?
    let history: [String]
    let floor: String?
    let hasCheckpoint: Bool

    private static nonisolated(unsafe) var known: [UInt64: StateFacts?] = [:]

    /// `nil` for what is not a state.
    static func of(_ content: Content) -> StateFacts? {
        if let known = known[content.hash] { return known }
        let facts = StateFacts(content.bytes)
        known[content.hash] = .some(facts)
        return facts
    }

    private init?(_ bytes: [UInt8]) {
        guard let document = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
            document["format"] as? Int == 1,
            let lastRun = (document["lastRunVersion"] as? String).flatMap({ AppVersion($0) })
        else { return nil }
        self.lastRun = lastRun
        baseline = (document["baseline"] as? String).flatMap { AppVersion($0) }
        launched = (document["launchedVersion"] as? String).flatMap { AppVersion($0) }
        let interrupted = document["latestAttempt"] as? [String: Any]
        self.interrupted = interrupted?["version"] as? String
        history = (document["history"] as? [[String: Any]] ?? []).compactMap { $0["version"] as? String }
        floor = document["minimumAppVersion"] as? String
        hasCheckpoint = interrupted?["checkpoint"] is String
    }
}
