import Dispatch
import Foundation

// The function that the guide's service without a framework has in common with the service on Hummingbird.
struct PlainService {
    static func keepMigrated() async throws { try await Task.sleep(for: .seconds(60)) }

    static func serve() async throws {
        let migrating = Task { try await keepMigrated() }
        // The signal would end the process otherwise.
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        source.setEventHandler { migrating.cancel() }
        source.resume()
        defer { source.cancel() }
        try await migrating.value
    }
}

/// Replaces the logger of swift-log.
struct Logger {
    enum Level { case info, warning, error, critical }
    let label: String

    func log(level: Level, _ text: String) {
        let line = "\(level) \(label): \(text)\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    func warning(_ text: String) { log(level: .warning, text) }
    func error(_ text: String) { log(level: .error, text) }
    func critical(_ text: String) { log(level: .critical, text) }
}
