import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct ArgumentTests {
    let folder = NotesFolder.current

    @Test(
        arguments: [
            (["notes"], #"Unknown argument "notes"."#),
            (["--data"], "--data needs a value after it."),
            (["--data", "--version", "2.0"], "--data needs a value after it."),
            (["--data", "a", "--data", "b"], "--data is given twice."),
            (["--data", "a"], "--data and --version go together: a folder, and the release to start."),
            (
                ["--data", "a", "--version", "1.3"],
                #"There is no release "1.3". There are 1.0, 1.1, 1.2.5, 2.0, 2.1, 3.0, 3.1."#
            ),
            (["--dry-run"], "--data and --version go together: a folder, and the release to start."),
            (
                ["--status", "--dry-run", "--data", "a", "--version", "2.0"],
                "--dry-run only looks: ask for no other look beside it."
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

    @Test(arguments: [["--help"], ["--data", "--help"], ["nonsense", "--help"]])
    func `help is given to whoever asks for it`(arguments: [String]) async {
        let output = Log()
        let errors = Log()
        #expect(await EntryPoint.run(arguments, output: output.output, errors: errors.output) == 0)
        #expect(output.text.hasPrefix("A small notes app whose data has changed with every release."))
        #expect(errors.text.isEmpty)
    }

    @Test func `a start is asked for by its folder and its release`() async throws {
        let output = Log()
        let errors = Log()
        let arguments = ["--version", "2.0", "--data", folder.path]
        #expect(await EntryPoint.run(arguments, output: output.output, errors: errors.output) == 0)
        #expect(output.text.hasPrefix("Notes 2.0 starts on \(folder.path)\n"))
        #expect(try NotesLibrary(folder: folder).layout() == .database)
        #expect(errors.text.isEmpty)
    }

    @Test func `a file in place of the folder is an error and stays as it is`() async throws {
        try folder.makeFolder("")
        try folder.write(Data("mine".utf8), to: "file")
        let errors = Log()
        let arguments = ["--data", folder.path(of: "file"), "--version", "2.0"]
        #expect(await EntryPoint.run(arguments, output: Log().output, errors: errors.output) == 1)
        #expect(errors.text.hasPrefix("Notes could not start. "))
        #expect(try folder.read("file") == Data("mine".utf8))
    }
}
