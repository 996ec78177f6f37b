import Foundation

// A notes app whose data has changed with every release. What an app copies is in `NotesApp.swift`: a start behind a gate.
// `Releases` has a file for each release, with what it migrates.
exit(
    await EntryPoint.run(
        Array(CommandLine.arguments.dropFirst()),
        output: Terminal.output,
        errors: Terminal.errors,
        bar: Terminal.bar
    )
)

enum EntryPoint {
    /// Runs the app with these arguments and answers its exit code.
    static func run(
        _ arguments: [String],
        output: @escaping Output,
        errors: Output,
        bar: Output? = nil
    ) async -> Int32 {
        do {
            switch try Command(parsing: arguments) {
            case .help: output(Command.helpText)
            case .tour:
                let path = FileManager.default.temporaryDirectory
                    .appending(path: "NotesExample-\(UUID().uuidString)").path(percentEncoded: false)
                try await Tour(folder: NotesFolder(path: path), output: output, bar: bar).run()
            case .look(let look, let folder, let release):
                let app = NotesApp(release: release, folder: folder, output: output, isLooking: true)
                switch look {
                case .dryRun: return try app.dryRun() == .opened ? EXIT_SUCCESS : EXIT_FAILURE
                case .status: try app.status()
                case .statusAsJSON: try app.statusAsJSON()
                }
            case .start(let folder, let release, let killPoint, let isSlow):
                var app = NotesApp(release: release, folder: folder, output: output, bar: bar)
                if isSlow { app.pause = { Thread.sleep(forTimeInterval: 0.15) } }
                app.reached = { if $0 == killPoint { die(at: $0, output) } }
                return try await app.start() == .opened ? EXIT_SUCCESS : EXIT_FAILURE
            }
            return EXIT_SUCCESS
        } catch let error as UsageError {
            errors("\(error)\nSee `NotesExample --help`.")
            return 64  // EX_USAGE, which Glibc's module does not have
        } catch {
            errors("Notes could not start. \(error)")
            return EXIT_FAILURE
        }
    }

    /// Kills itself by SIGKILL: no handler, no `defer` and no buffer runs, as in a real crash.
    private static func die(at point: String, _ output: Output) {
        output("    killed   at \(point)")
        kill(getpid(), SIGKILL)
    }
}
