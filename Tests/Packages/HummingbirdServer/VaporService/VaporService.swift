import Vapor

// The functions that the guide's service with Vapor has in common with the service on Hummingbird.
@main struct NotesService {
    static func isReady() async -> Bool { true }

    static func keepMigrated() async throws { try await Task.sleep(for: .seconds(60)) }

    static func serve() async throws {
        let app = try await Application.make(.production)
        app.get("readyz") { _ async -> HTTPStatus in
            await isReady() ? .ok : .serviceUnavailable
        }
        addRoutes(to: app)
        do {
            try await app.startup()
            let migrating = Task {
                defer { app.running?.stop() }
                try await keepMigrated()
            }
            try await app.running?.onStop.get()
            migrating.cancel()
            try await migrating.value
        } catch {
            try await app.asyncShutdown()
            throw error
        }
        try await app.asyncShutdown()
    }

    static func main() async throws { try await serve() }
}

func addRoutes(to app: Application) {}
