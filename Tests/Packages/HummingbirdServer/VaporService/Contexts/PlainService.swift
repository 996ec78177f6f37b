import Dispatch
import Foundation

// The function that the guide's service without a framework has in common with the service on Hummingbird.
struct PlainService {
    static func keepMigrated() async throws { try await Task.sleep(for: .seconds(60)) }

    // Sample 6 of SeveralHosts.md
}

// Sample 7 of SeveralHosts.md
