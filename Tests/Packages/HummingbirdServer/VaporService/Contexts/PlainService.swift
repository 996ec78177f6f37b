import Dispatch
import Foundation

// What the guide's service without a framework shares with the one on Hummingbird.
struct PlainService {
    static func keepMigrated() async throws { try await Task.sleep(for: .seconds(60)) }

    // Sample 6 of SeveralHosts.md
}
