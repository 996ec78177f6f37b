import AppMigrations
import Foundation

/// Prints one line.
typealias Output = @Sendable (String) -> Void

/// The terminal: lines, and below them a progress bar if standard output is a terminal.
enum Terminal {
    static let output: Output = { write("\(wipe)\($0)\n") }
    static let errors: Output = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    static let bar: Output? = wipe.isEmpty ? nil : { @Sendable in write(wipe + $0) }

    /// Removes the bar, so that its line can be used again.
    private static let wipe = isatty(STDOUT_FILENO) == 1 ? "\r\u{1B}[K" : ""

    /// Writes and flushes, so that the last line of a killed app says where it was killed.
    private static func write(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }
}

/// Follows a start to its end, and draws the progress of its migrations.
struct ProgressBar: Sendable {
    /// Draws a line in place of the one before.
    ///
    /// It is `nil` if there is no terminal.
    let draw: Output?

    func follow(_ gate: MigrationGate) async throws {
        defer { draw?("") }
        for await state in gate.states {
            switch state {
            // The gate would try again by itself, which is right for an app. A tool ends instead, and its
            // caller tries again.
            case .waitingForUnlock(let error): throw error
            // `ready()` throws the error of the start. The sequence of states doesn't end here, because an
            // app can offer to try again.
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
