import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct ArgumentTests {
    let folder = NotesFolder.current

    @Test(
        arguments: [
            (["notes"], #"Unknown argument "notes"."#),
            (["--slow"], "--data and --version go together: a folder, and the release to start."),
            (
                ["--data", "a", "--version", "3.1", "--slow", "--status"],
                "--slow needs a start that runs something, and a look runs nothing."
            ),
            (["--verbose"], #"Unknown argument "--verbose"."#),
            (["--data"], "--data needs a value after it."),
            (["--data", "--version", "1.4"], "--data needs a value after it."),
            (["--data=", "--version=1.4"], "--data needs a value after it."),
            (["--data", "a", "--data", "b"], "--data is given twice."),
            (["--data", "a"], "--data and --version go together: a folder, and the release to start."),
            (["--version", "1.4"], "--data and --version go together: a folder, and the release to start."),
            (
                ["--kill-at", "1.1:renamed"],
                "--data and --version go together: a folder, and the release to start."
            ),
            (
                ["--data", "a", "--version", "1.3"],
                #"There is no release "1.3". There are 1.0, 1.1, 1.2.5, 1.4, 2.0, 2.1, 2.2, 3.0, 3.1."#
            ),
            (
                ["--data", "a", "--version", "1.1", "--kill-at", "1.4:renamed"],
                #"Notes 1.1 has no point "1.4:renamed". It has: "#
                    + "1.1:half-written, 1.1:written, 1.1:renamed, 1.1:removed, 1.1-1:half-renamed, 1.1-1:renamed."
            ),
            (
                ["--data", "a", "--version", "1.0", "--kill-at", "x"],
                #"Notes 1.0 has no point "x". It has: none."#
            ),
            (["--dry-run"], "--data and --version go together: a folder, and the release to start."),
            (["--status", "--data"], "--data needs a value after it."),
            (["--data", "a", "--version", "1.4", "--json"], "--json goes with --status."),
            (["--data", "a", "--version", "1.4", "--json", "--dry-run"], "--json goes with --status."),
            (
                ["--status", "--dry-run", "--data", "a", "--version", "1.4"],
                "--dry-run and --status are two looks: ask for one."
            ),
            (
                ["--dry-run", "--data", "a", "--version", "1.1", "--kill-at", "1.1:renamed"],
                "--kill-at needs a start that runs something, and a look runs nothing."
            ),
        ]
    )
    func `wrong arguments are explained and end with 64`(arguments: [String], message: String) async {
        let output = Log()
        let errors = Log()
        #expect(await EntryPoint.run(arguments, output: output.output, errors: errors.output) == 64)
        #expect(errors.text == "\(message)\nSee `NotesExample --help`.")
        #expect(output.text.isEmpty)
    }

    @Test(arguments: [["--help"], ["-h"], ["--data", "--help"], ["nonsense", "--help"]])
    func `help is given to whoever asks for it`(arguments: [String]) async {
        let output = Log()
        let errors = Log()
        #expect(await EntryPoint.run(arguments, output: output.output, errors: errors.output) == 0)
        #expect(output.text.hasPrefix("A small notes app whose data has changed with every release."))
        #expect(Release.all.flatMap(\.points).allSatisfy { output.text.contains("  \($0)") })
        #expect(errors.text.isEmpty)
    }

    @Test(arguments: [["--data", "FOLDER", "--version", "1.4"], ["--version=1.4", "--data=FOLDER"]])
    func `a start is asked for in either way of writing`(arguments: [String]) async throws {
        let output = Log()
        let errors = Log()
        let arguments = arguments.map { $0.replacing("FOLDER", with: folder.path) }
        #expect(await EntryPoint.run(arguments, output: output.output, errors: errors.output) == 0)
        #expect(output.text.hasPrefix("Notes 1.4 starts on \(folder.path)\n"))
        #expect(try NotesLibrary(folder: folder).layout() == .tagsApart)
        #expect(errors.text.isEmpty)
    }

    @Test func `a file in place of the folder is an error and stays as it is`() async throws {
        try folder.makeFolder("")
        try folder.write(Data("mine".utf8), to: "file")
        let errors = Log()
        let arguments = ["--data", folder.path(of: "file"), "--version", "1.4"]
        #expect(await EntryPoint.run(arguments, output: Log().output, errors: errors.output) == 1)
        #expect(errors.text.hasPrefix("Notes could not start. "))
        #expect(try folder.read("file") == Data("mine".utf8))
    }
}
