import AppMigrationsSystem

/// A progress bar on the standard error.
struct TerminalProgress {
    private let write: (String) -> Void
    private var showsBar = false
    private var lastMessage: String?

    init(writingWith write: @escaping (String) -> Void = Self.writeToTerminal) { self.write = write }

    /// Writes a line below the bar.
    ///
    /// If the same line was written last, it isn't written again. For example, a start with two managers can
    /// wait for another process twice.
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

    /// Says that a signal was received, because a closure without checkpoints may still run for a long time.
    static func showStop(isFirst: Bool) {
        let text =
            isFirst
            ? "Stopping as soon as the migration can be interrupted."
            // Ctrl-\ sends SIGQUIT, which isn't caught.
            : "Still stopping. Ctrl-\\ ends it at once, which counts as a crash."
        writeToTerminal("\r\(eraseToEndOfLine)\(text)\n")
    }

    /// Ends the line of the bar, so that the next output begins on a new line.
    mutating func finish() {
        guard showsBar else { return }
        showsBar = false
        write("\n")
    }

    /// Returns the bar with the percentage and the note, for example `[###-------] 30 % Notes`.
    ///
    /// It is at most 79 columns wide. A line that is wider than the terminal would wrap, and `\r` would
    /// return only to the beginning of its last row.
    static func line(fraction: Double, note: String?) -> String {
        let width = 30
        let filled = Int(fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        // A control character, such as a line break or an escape, would move the cursor.
        let scalars = (note ?? "").unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        let text = String(String.UnicodeScalarView(scalars))
        return "[\(bar)] \(Int(fraction * 100)) % \(text)".fitting(columns: 79)
    }

    /// The control sequence EL of ECMA-48, which deletes the rest of a longer line.
    private static let eraseToEndOfLine = "\u{1B}[K"

    /// Writes the text to the standard error, if that is a terminal.
    ///
    /// Errors are ignored: a migration must not fail because its progress can't be shown, for example after
    /// the terminal was closed.
    private static func writeToTerminal(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        let bytes = Array(text.utf8)
        _ = AppMigrationsSystem.write(STDERR_FILENO, bytes, bytes.count)
    }
}
