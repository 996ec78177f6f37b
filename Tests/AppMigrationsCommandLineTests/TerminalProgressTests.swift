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

    /// The bar leaves 41 columns to the note, and the number is that of the characters that fit into them.
    @Test(
        arguments: [
            ("n", 41), ("漢", 20), ("ｶ", 41), ("Ａ", 20), ("한", 20), ("🚀", 20), ("🇩🇪", 10), ("👩‍👩‍👧‍👦", 5),
            ("❤️", 20), ("❤", 41), ("é", 41), ("e\u{301}\u{323}", 41), ("\u{200B}", 200),
        ]
    )
    func `a line fits into 80 columns, and no character is cut`(character: String, count: Int) {
        let line = TerminalProgress.line(fraction: 0.5, note: String(repeating: character, count: 200))
        #expect(line == "[###############---------------] 50 % " + String(repeating: character, count: count))
    }

    @Test func `a short note isn't cut`() {
        let line = TerminalProgress.line(fraction: 0, note: "メモを移しています")
        #expect(line.hasSuffix(" 0 % メモを移しています"))
    }

    @Test(arguments: ["a\nb", "a\rb", "a\u{1B}b", "a\tb", "a\u{7F}b"])
    func `a control character in a note can't move the cursor`(note: String) {
        #expect(TerminalProgress.line(fraction: 0, note: note).hasSuffix(" 0 % a b"))
    }

    @Test func `a line break of two characters is two spaces`() {
        #expect(TerminalProgress.line(fraction: 0, note: "a\r\nb").hasSuffix(" 0 % a  b"))
    }

    /// What is written while `body` uses a progress bar.
    private func output(_ body: (inout TerminalProgress) -> Void) -> [String] {
        let output = Output()
        var progress = TerminalProgress { output.texts.append($0) }
        body(&progress)
        return output.texts
    }

    private final class Output {
        var texts: [String] = []
    }

    @Test func `a message is written once, until something else was shown`() {
        let texts = output { progress in
            progress.show(message: "Wait.")
            progress.show(message: "Wait.")
            progress.show(message: "Go on.")
            progress.show(message: "Wait.")
            progress.finish()
        }
        #expect(texts == ["Wait.\n", "Go on.\n", "Wait.\n"])
    }

    @Test func `a bar is drawn over the one before it, and a message begins on a new line`() {
        let texts = output { progress in
            progress.show(message: "Wait.")
            progress.show(fraction: 0, note: "Notes")
            progress.show(fraction: 1, note: nil)
            progress.show(message: "Wait.")
            progress.finish()
        }
        let bars = [(0, "Notes"), (1, nil)] as [(Double, String?)]
        let drawn = bars.map { "\r" + TerminalProgress.line(fraction: $0, note: $1) + "\u{1B}[K" }
        #expect(texts == ["Wait.\n"] + drawn + ["\n", "Wait.\n"])
    }
}
