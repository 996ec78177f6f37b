import AppMigrationsSystem

/// A progress bar on the standard error.
///
/// If the standard error isn't a terminal, nothing is written.
struct TerminalProgress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var showsBar = false
    private var lastMessage: String?

    /// Writes a line below the bar, unless it is the line that was written last.
    mutating func show(message: String) {
        finish()
        if message != lastMessage { write(message + "\n") }
        lastMessage = message
    }

    /// Draws the bar over the previous one.
    mutating func show(fraction: Double, note: String?) {
        showsBar = true
        lastMessage = nil
        write("\r\(Self.line(fraction: fraction, note: note))\(Self.eraseToEndOfLine)")
    }

    /// Says that a signal was received, because a closure without checkpoints may run for a long time after it.
    static func showStop() {
        TerminalProgress().write(
            "\r\(eraseToEndOfLine)Stopping as soon as the migration can be interrupted.\n"
        )
    }

    /// Ends the line of the bar, so that the next output begins on a new line.
    mutating func finish() {
        guard showsBar else { return }
        showsBar = false
        write("\n")
    }

    /// Returns the bar with the percentage and the note, for example `[###-------] 30 % Notes`.
    ///
    /// It is at most 79 characters long. A line that is wider than the terminal would wrap, and `\r` would
    /// return only to the beginning of its last row.
    static func line(fraction: Double, note: String?) -> String {
        let width = 30
        let filled = Int(fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        // A control character, such as a line break or an escape, would move the cursor.
        let scalars = (note ?? "").unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        let text = String(String.UnicodeScalarView(scalars))
        return String("[\(bar)] \(Int(fraction * 100)) % \(text)".prefix(79))
    }

    /// The control sequence EL of ECMA-48, which deletes the rest of a longer line.
    private static let eraseToEndOfLine = "\u{1B}[K"

    /// Writes the text, and ignores errors.
    ///
    /// A migration must not fail because its progress can't be shown, for example because the terminal was
    /// closed.
    private func write(_ text: String) {
        guard isTerminal else { return }
        let bytes = Array(text.utf8)
        _ = AppMigrationsSystem.write(STDERR_FILENO, bytes, bytes.count)
    }
}
