import AppMigrations
import Foundation
import Testing

@Suite struct ReadmeTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The lines of a piece of code that count: without indentation, empty lines and imports.
    private static func lines(_ code: some StringProtocol) -> [String] {
        code.split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    }

    private static func files(under folder: String, named suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(
            atPath: root.appending(path: folder).path(percentEncoded: false)
        )
        .filter { $0.hasSuffix(suffix) }
        .map { "\(folder)/\($0)" }
        .sorted()
    }

    @Test func `every sample of the documentation is compiled as it stands there`() throws {
        let samples = try Self.files(under: "Tests", named: ".swift")
            .filter { $0.contains("/Documentation/") }
            .map { try Self.lines(Self.text($0)) }
        let pages = try ["README.md"] + Self.files(under: "Sources", named: ".md")
        for page in pages {
            for block in try Self.text(page).components(separatedBy: "```swift\n").dropFirst() {
                let sample = Self.lines(block.components(separatedBy: "```")[0])
                let isCompiled = samples.contains { $0.ranges(of: sample).count == 1 }
                #expect(isCompiled, "\(page), not compiled: \(sample.joined(separator: "\n"))")
            }
        }
        #expect(samples.count >= 7)
    }

    /// The samples of a source's doc comments, each without its comment's slashes.
    private static func samples(ofSource text: String) -> [String] {
        let comments = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("///") }
        return comments.map { String($0.dropFirst(3)) }.joined(separator: "\n")
            .components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
    }

    @Test func `every sample of a doc comment is compiled, but for its spaces and line breaks`() throws {
        func characters(_ code: String) -> String { code.filter { !$0.isWhitespace } }
        let compiled = try Self.files(under: "Tests", named: ".swift")
            .filter { $0.contains("/Documentation/") }
            .map { characters(try Self.text($0)) }
        var count = 0
        for source in try Self.files(under: "Sources", named: ".swift") {
            for sample in Self.samples(ofSource: try Self.text(source)) {
                let isCompiled = compiled.contains { $0.contains(characters(sample)) }
                #expect(isCompiled, "\(source), not compiled: \(sample)")
                count += 1
            }
        }
        #expect(count >= 14)
    }

    @Test func `no sample has to be scrolled in a window of 1,000 points`() throws {
        let articles = try Self.files(under: "Sources", named: ".md").map { page in
            (page, try Self.text(page).components(separatedBy: "```swift\n").dropFirst().map { String($0) })
        }
        let sources: [(String, [String])] = try Self.files(under: "Sources", named: ".swift").map { source in
            let samples = Self.samples(ofSource: try Self.text(source))
            return (source, samples.map { "\n\($0)".replacing("\n ", with: "\n") })
        }
        for (page, samples) in articles + sources {
            for line in samples.flatMap({ $0.components(separatedBy: "```")[0].split(separator: "\n") }) {
                #expect(line.count <= 68, "\(page), \(line.count) columns: \(line)")
            }
        }
    }

    @Test func `the README is short, and begins with code`() throws {
        let text = try Self.text("README.md")
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 750)
        #expect(text.components(separatedBy: "\n").prefix(12).contains("```swift"))
    }

    @Test func `every file that the README leads to is there`() throws {
        let links = try Self.text("README.md").matches(of: /\]\(([^)]+)\)/).map { String($0.output.1) }
        #expect(links.count >= 10)
        for link in links {
            let path = Self.root.appending(path: link).path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
        }
    }

    @Test func `the README's two commands are what CI runs`() throws {
        let readme = try Self.text("README.md")
        let script = try Self.text(".ci/run")
        for command in ["swift run NotesExample", "swift test --disable-xctest"] {
            #expect(readme.contains("```sh\n\(command)\n```"))
            #expect(script.contains(command))
        }
    }

    @Test func `a real start shows the library, the recovery screen, or waits for the unlock`() async throws {
        try await withTemporaryDirectory { folder async throws in
            struct Refused: Error {}
            func run(
                _ version: String,
                _ declare: @escaping @Sendable (MigrationManager) throws -> Void
            ) async -> [String] {
                let shown = Log()
                let library = Library(
                    folder: URL(filePath: folder.path),
                    appVersion: version,
                    declare: declare
                )
                await start(library) { shown.add("\($0)".prefix { $0 != "(" }.description) }
                return shown.lines
            }
            let fresh = await run("1.0") { try $0.whenMigrating(toVersion: "1.0") {} }
            #expect(fresh == ["library"])
            let update = await run("1.1") { try $0.whenMigrating(toVersion: "1.1") {} }
            #expect(update == ["updating", "library"])
            let failing = await run("1.2") { try $0.whenMigrating(toVersion: "1.2") { throw Refused() } }
            #expect(failing == ["updating", "recovery"])
            let older = await run("1.0") { _ in }
            #expect(older == ["updateTheApp"])
            // A loop of links can't be read, and isn't taken for a place without a state.
            let state = folder.path + "/Migrations"
            try FileManager.default.removeItem(atPath: state)
            try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: state)
            let unreadable = await run("1.2") { _ in }
            #expect(unreadable == ["startAgainAfterUnlock"])
        }
    }
}
