import AppMigrations
import Foundation

@main
enum EntryPoint {
    static func main() {
        exit(
            run(
                Array(CommandLine.arguments.dropFirst()),
                // Flushed line by line, since the last line of a killed app says where it was killed.
                output: { line in
                    print(line)
                    fflush(nil)
                },
                errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
            )
        )
    }

    /// Runs the app with these arguments and answers its exit code.
    static func run(_ arguments: [String], output: @escaping Output, errors: Output) -> Int32 {
        do {
            switch try Command(parsing: arguments) {
            case .help:
                output(Command.helpText)
                return EXIT_SUCCESS
            case .tour:
                let url = FileManager.default.temporaryDirectory
                    .appending(path: "NotesExample-\(UUID().uuidString)")
                try Tour(folder: NotesFolder(path: url.path(percentEncoded: false)), output: output).run()
                return EXIT_SUCCESS
            case .look(let path, let release, let look):
                let folder = NotesFolder(path: path)
                let app = NotesApp(release: release, folder: folder, output: output, isLooking: true)
                switch look {
                case .dryRun: return try app.dryRun() == .opened ? EXIT_SUCCESS : EXIT_FAILURE
                case .status: try app.status()
                case .statusAsJSON: try app.statusAsJSON()
                }
                return EXIT_SUCCESS
            case .start(let path, let release, let killPoint, let isSlow):
                let folder = NotesFolder(path: path)
                let pause = isSlow ? { Thread.sleep(forTimeInterval: 0.15) } : {}
                let app = NotesApp(release: release, folder: folder, output: output, pause: pause) { point in
                    if point == killPoint { die(at: point, output) }
                }
                return try app.start() == .opened ? EXIT_SUCCESS : EXIT_FAILURE
            }
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
