import Foundation

/// Takes one line of what the app has to say.
typealias Output = @Sendable (String) -> Void

/// Where the app writes: lines, and below them a bar if a person is looking on.
enum Terminal {
    static let output: Output = { write("\(wipe)\($0)\n") }
    static let errors: Output = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    static let bar: Output? = wipe.isEmpty ? nil : { @Sendable in write(wipe + $0) }

    /// Takes the bar away, so that something else can be written in its line.
    private static let wipe = isatty(STDOUT_FILENO) == 1 ? "\r\u{1B}[K" : ""

    /// Flushed each time, since the last line of a killed app says where it was killed.
    private static func write(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }
}
