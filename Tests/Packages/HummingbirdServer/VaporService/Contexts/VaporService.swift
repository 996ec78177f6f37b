import Vapor

// The functions that the guide's service with Vapor has in common with the service on Hummingbird.
@main struct NotesService {
    static func isReady() async -> Bool { true }

    static func keepMigrated() async throws { try await Task.sleep(for: .seconds(60)) }

    // Sample 5 of SeveralHosts.md

    static func main() async throws { try await serve() }
}

func addRoutes(to app: Application) {}
