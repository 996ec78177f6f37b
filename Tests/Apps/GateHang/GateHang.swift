import AppMigrations

/// Starts an app again and again whose screens are closed at a moment when its gate changes its state.
///
/// SwiftUI closes a screen by cancelling the screen's task. A gate that resumed tasks while it held its own lock met that
/// cancellation in the wrong order, and then every call of the gate waited for ever, those of the main thread too. So the only
/// question is whether this program comes to its end: `Tests/Torture/gate` gives it a limit of time.
@main
struct GateHang {
    /// An empty folder, in which each start has a state of its own.
    let folder: String

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let mode = arguments.first, let folder = arguments.last else {
            return print("GateHang root|one|many FOLDER")
        }
        let app = GateHang(folder: folder)
        var closedScreens = 0
        switch mode {
        case "root":
            for _ in 0..<4_000 { closedScreens += try await app.closeScreensWhenReady() }
        case "one":
            for start in 0..<250 { closedScreens += try await app.closeOneScreen(ofStart: start) }
        case "many":
            for start in 0..<40 { closedScreens += try await app.closeManyScreens(ofStart: start) }
        default:
            return print("There is no mode \(mode).")
        }
        print("\(mode): \(closedScreens) screens were closed, and nothing hung.")
    }
}

extension GateHang {
    /// A root view takes the progress views away once the data is ready; nothing is pending.
    private func closeScreensWhenReady() async throws -> Int {
        let gate = MigrationGate { start in
            let migrations = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                stateDirectory: folder,
                options: start.options()
            )
            try start.migrate(migrations) { _ in }
            Platform.pause(.microseconds(500))
        }
        let screens = (0..<3).map { _ in screen(of: gate) }
        let root = Task {
            for await state in gate.states {
                if case .ready = state { close(screens) }
            }
        }
        await root.value
        for screen in screens { await screen.value }
        _ = gate.state
        return screens.count
    }

    /// One screen is closed once, in the middle of a migration that reports its progress.
    private func closeOneScreen(ofStart number: Int) async throws -> Int {
        let gate = migratingGate(ofStart: number)
        let screen = screen(of: gate)
        let door = Task { try await gate.ready() }
        try await Task.sleep(for: .milliseconds(Int.random(in: 1..<15)))
        close([screen])
        _ = gate.state
        try await door.value
        return 1
    }

    /// Screens come and go as long as a migration reports its progress.
    private func closeManyScreens(ofStart number: Int) async throws -> Int {
        let gate = migratingGate(ofStart: number)
        let door = Task { try await gate.ready() }
        var closedScreens = 0
        while true {
            let screens = (0..<4).map { _ in screen(of: gate) }
            try await Task.sleep(for: .microseconds(300))
            close(screens)
            closedScreens += screens.count
            if case .ready = gate.state { break }
        }
        try await door.value
        return closedScreens
    }

    private func migratingGate(ofStart number: Int) -> MigrationGate {
        MigrationGate { start in
            let migrations = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                firstRun: .everything,
                stateDirectory: folder + "/\(number)",
                options: start.options()
            )
            try start.migrate(migrations) { migrations in
                try migrations.whenMigrating(toVersion: "1.4") { context in
                    for step in 0..<200 {
                        context.reportProgress(Double(step) / 200)
                        Platform.pause(.microseconds(50))
                    }
                }
            }
        }
    }

    private func screen(of gate: MigrationGate) -> Task<Void, Never> {
        Task { for await _ in gate.states {} }
    }

    private func close(_ screens: [Task<Void, Never>]) {
        for screen in screens { screen.cancel() }
    }
}
