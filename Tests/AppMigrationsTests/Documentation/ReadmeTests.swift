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

    @Test func `the README is short and begins with code`() throws {
        let lines = try Self.text("README.md").components(separatedBy: "\n")
        #expect(lines.count <= 150)
        #expect(lines.prefix(12).contains("```swift"))
    }

    @Test func `the README's two commands are what CI runs`() throws {
        let readme = try Self.text("README.md")
        let script = try Self.text(".ci/run")
        for command in ["swift run NotesExample", "swift test --disable-xctest"] {
            #expect(readme.contains("```sh\n\(command)\n```"))
            #expect(script.contains(command))
        }
    }

    @Test func `a real start shows the library, the recovery screen, or waits for the unlock`() throws {
        let container = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: container) } }
        struct Refused: Error {}
        func run(_ version: String, _ declare: @escaping (MigrationManager) throws -> Void) -> [App.Screen] {
            let app = App(container: container, version: version, declare: declare)
            start(app)
            return app.screens
        }

        let first = run("1.0") { try $0.whenMigrating(toVersion: "1.0") {} }
        #expect(first.count == 1)
        guard case .library = first[0] else { return #expect(Bool(false), "\(first)") }

        let update = run("1.1") { try $0.whenMigrating(toVersion: "1.1") {} }
        guard case .updating(steps: 1) = update[0], case .library = update[1] else {
            return #expect(Bool(false), "\(update)")
        }

        let failing = run("1.2") { try $0.whenMigrating(toVersion: "1.2") { throw Refused() } }
        guard case .updating = failing[0], case .recovery = failing[1] else {
            return #expect(Bool(false), "\(failing)")
        }
    }
}
