import Foundation
import Testing

@testable import AppMigrations

/// Sleeps that a test ends one by one.
actor Pauses {
    private(set) var all = [Duration]()
    private var sleeper: CheckedContinuation<Void, any Error>?
    private var observer: CheckedContinuation<Void, Never>?

    func sleep(_ pause: Duration) async throws {
        all.append(pause)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                sleeper = $0
                observer?.resume()
                observer = nil
            }
        } onCancel: {
            Task { await end(.failure(CancellationError())) }
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        sleeper?.resume(with: result)
        sleeper = nil
    }

    /// Ends a number of sleeps, and returns once the next one has begun.
    func wake(times: Int) async {
        for _ in 0..<times {
            await begun()
            end(.success(()))
        }
        await begun()
    }

    private func begun() async {
        if sleeper == nil { await withCheckedContinuation { observer = $0 } }
    }
}

struct Refused: Error {}

/// The error of a manager whose state can't be read.
func unreadable(because number: Int32?) -> MigrationError {
    let cause = number.map { SystemCallError(call: "open", errorNumber: $0) }
    return MigrationError(
        code: .stateUnreadable,
        underlyingError: cause,
        isTransient: cause?.isOfLockedDevice ?? false
    )
}

func manager(
    _ version: String,
    in folder: String,
    _ options: MigrationManager.Options = .init(),
    named name: String = "default"
)
    throws -> MigrationManager
{
    try MigrationManager(
        named: name,
        currentVersion: version,
        firstRun: .everything,
        stateDirectory: folder,
        options: options
    )
}

extension MigrationGate.State {
    var text: String {
        switch self {
        case .migrating(let fraction, let note): "migrating \(fraction) \(note ?? "")"
        case .planning(let pending): "planning \(pending)"
        default: "\(self)"
        }
    }
}
