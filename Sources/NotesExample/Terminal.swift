import AppMigrations
import Foundation

/// Takes one line of the app's words.
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

/// Follows a start to its end, and draws how much of all its migrations is done.
struct ProgressBar: Sendable {
    /// Draws a line in the place of the one before it; `nil` where there is no terminal.
    let draw: Output?

    func follow(_ gate: MigrationGate) async throws {
        defer { draw?("") }
        for await state in gate.states {
            switch state {
            // The gate would try again by itself, as it should in an app. A tool ends, and its caller tries
            // again.
            case .waitingForUnlock(let error): throw error
            // `ready()` throws the start's error; the states go on, since a screen may have a button for
            // another try.
            case .failed, .cancelled, .requiresAppVersion: try await gate.ready()
            default: if let text = Self.text(for: state) { draw?(text) }
            }
        }
    }

    static func text(for state: MigrationGate.State) -> String? {
        switch state {
        case .planning(pending: 1...): bar(0, "")
        case .migrating(let fraction, let note): bar(fraction, note ?? "")
        case .waitingForAnotherProcess: "Another process is migrating…"
        default: nil
        }
    }

    private static func bar(_ fraction: Double, _ note: String) -> String {
        let done = Int(fraction * 30)
        let bar = String(repeating: "#", count: done) + String(repeating: "-", count: 30 - done)
        return "[\(bar)] \(Int(fraction * 100)) % \(note)"
    }
}
