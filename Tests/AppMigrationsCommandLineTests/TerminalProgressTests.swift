import Testing

@testable import AppMigrationsCommandLine

struct TerminalProgressTests {
    @Test(arguments: [
        (0, nil, "[------------------------------] 0 % "),
        (0.5, "Notes", "[###############---------------] 50 % Notes"),
        (1, nil, "[##############################] 100 % "),
    ])
    func `a line has the bar, the percentage and the note`(fraction: Double, note: String?, line: String) {
        #expect(TerminalProgress.line(fraction: fraction, note: note) == line)
    }

    @Test func `a line fits into 80 columns`() {
        let line = TerminalProgress.line(fraction: 0.5, note: String(repeating: "n", count: 200))
        #expect(line.count == 79)
    }

    @Test(arguments: ["a\nb", "a\rb", "a\u{1B}b", "a\tb", "a\u{7F}b"])
    func `a control character in a note can't move the cursor`(note: String) {
        #expect(TerminalProgress.line(fraction: 0, note: note).hasSuffix(" 0 % a b"))
    }

    @Test func `a line break of two characters is two spaces`() {
        #expect(TerminalProgress.line(fraction: 0, note: "a\r\nb").hasSuffix(" 0 % a  b"))
    }
}
