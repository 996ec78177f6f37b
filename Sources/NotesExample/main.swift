import Foundation

// A notes app whose data changed in every release. `NotesApp.swift` has the part to imitate: a start behind a
// gate. The files in `Releases` have what each release migrates.
exit(
    await EntryPoint.run(
        Array(CommandLine.arguments.dropFirst()),
        output: Terminal.output,
        errors: Terminal.errors,
        bar: Terminal.bar
    )
)

enum EntryPoint {
    /// Runs the app with these arguments, and returns its exit code.
    static func run(
        _ arguments: [String],
        output: @escaping Output,
        errors: Output,
        bar: Output? = nil
    ) async -> Int32 {
        do {
            switch try Command(parsing: arguments) {
            case .help: output(Command.helpText)
            case .tour: try await tour(output, bar)
            case .look(let look, let folder, let release):
                let app = NotesApp(release: release, folder: folder, output: output, isLooking: true)
                switch look {
                case .dryRun: return try app.dryRun() == .opened ? EXIT_SUCCESS : EXIT_FAILURE
                case .status: try app.status()
                case .json: try app.statusAsJSON()
                }
            case .start(let folder, let release):
                let app = NotesApp(release: release, folder: folder, output: output, bar: bar)
                return try await app.start() == .opened ? EXIT_SUCCESS : EXIT_FAILURE
            }
            return EXIT_SUCCESS
        } catch let error as UsageError {
            errors("\(error)\nSee `NotesExample --help`.")
            return 64  // EX_USAGE. Glibc's module doesn't have it.
        } catch {
            errors("Notes could not start. \(error)")
            return EXIT_FAILURE
        }
    }

    /// Starts one release after the other on a new folder, and checks that no note has changed.
    private static func tour(_ output: @escaping Output, _ bar: Output?) async throws {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "NotesExample-\(UUID().uuidString)").path(percentEncoded: false)
        let folder = NotesFolder(path: path)
        let starts: [Release] = [.v1_0, .v1_1, .v2_0, .v2_1, .v3_0, .v3_1, .v3_1]
        var before: [Note] = []
        for release in starts {
            let app = NotesApp(release: release, folder: folder, output: output, bar: bar)
            guard try await app.start() == .opened else {
                throw NotesError("Notes \(release.version) refused a folder that no later release has used.")
            }
            output("")
            if before.isEmpty { before = try NotesLibrary(folder: folder).notes() }
        }
        guard try NotesLibrary(folder: folder).notes() == before else {
            throw NotesError("The notes in \(path) are not what they were in 1.0.")
        }
        output("All \(before.count) notes are byte for byte what they were in 1.0.")
        output("The folder stays. Look at it, or start it again: --data \(path) --version 3.1")
    }
}
