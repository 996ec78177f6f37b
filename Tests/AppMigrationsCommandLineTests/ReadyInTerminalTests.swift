import AppMigrations
import AppMigrationsCommandLine
import Foundation
import TestSupport
import Testing

/// A child process, because a signal and its handler belong to the whole process.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1)))
struct ReadyInTerminalTests {
    let scratch = TemporaryDirectory.current

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the start at the next checkpoint, which is no crash`(number: Int32) async throws {
        await #expect(processExitsWith: .exitCode(128 + number)) { [path = scratch.path as String, number] in
            let gate = gate(in: path) { context in
                for step in 1... {
                    if step == 3 { kill(getpid(), number) }
                    try context.saveCheckpoint(step)
                }
            }
            do {
                try await gate.readyInTerminal()
            } catch {
                exit(MigrationGate.exitCode(after: error))
            }
        }
        let status = try manager(in: scratch.path).status
        let latestAttempt = try #require(status.latestAttempt)
        #expect(latestAttempt.crashCount == 0)
        #expect(try #require(latestAttempt.checkpoint.flatMap { Int($0) }) >= 3)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `the signal that stopped a start ends the process, after its output`(number: Int32) async throws {
        let signal = ExitTest.Condition.signal(number)
        let result = await #expect(processExitsWith: signal, observing: [\.standardOutputContent]) {
            [path = scratch.path as String, number] in
            let error = await error(ofStartIn: path, stoppedBy: [number])
            // Without a line break, it stays in the buffer.
            print("stopped", terminator: "")
            // As in a thread of Dispatch.
            block(number)
            MigrationGate.endProcess(after: error)
        }
        let output = try #require(result).standardOutputContent
        #expect(String(decoding: output, as: UTF8.self).contains("stopped"))
    }

    @Test func `the first of several signals ends the process`() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = scratch.path as String] in
            MigrationGate.endProcess(after: await error(ofStartIn: path, stoppedBy: [SIGTERM, SIGINT]))
        }
    }

    @Test func `an error that isn't a cancellation ends the process with its exit code`() async throws {
        await #expect(processExitsWith: .exitCode(70)) { [path = scratch.path as String] in
            _ = await error(ofStartIn: path, stoppedBy: [SIGTERM])
            MigrationGate.endProcess(after: CocoaError(.fileNoSuchFile))
        }
        // Without a signal, it was the tool itself that cancelled.
        await #expect(processExitsWith: .exitCode(130)) {
            MigrationGate.endProcess(after: CancellationError())
        }
    }

    @Test func `a signal of an earlier start doesn't end the process`() async throws {
        await #expect(processExitsWith: .exitCode(130)) { [path = scratch.path as String] in
            _ = await error(ofStartIn: path, stoppedBy: [SIGTERM])
            try await MigrationGate { _ in }.readyInTerminal()
            MigrationGate.endProcess(after: CancellationError())
        }
    }

    @Test func `a signal during the last closure ends the tool, though the start succeeds`() async throws {
        await #expect(processExitsWith: .exitCode(130)) { [path = scratch.path as String] in
            let gate = gate(in: path) { _ in
                kill(getpid(), SIGINT)
                // Until the signal has cancelled the start.
                while !Task.isCancelled { sched_yield() }
            }
            do {
                try await gate.readyInTerminal()
            } catch is CancellationError {
                guard case .ready = gate.state else { exit(1) }
                exit(130)
            }
        }
        #expect(try manager(in: scratch.path).lastRunVersion == AppVersion("2.0"))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `after the start a signal ends the process again`(number: Int32) async throws {
        let signal = ExitTest.Condition.signal(number)
        await #expect(processExitsWith: signal) { [path = scratch.path as String, number] in
            try await gate(in: path) { _ in }.readyInTerminal()
            kill(getpid(), number)
            while true { pause() }
        }
    }

    @Test func `a signal that was ignored before stays ignored`() async throws {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            signal(SIGHUP, SIG_IGN)
            try await gate(in: path) { _ in kill(getpid(), SIGHUP) }.readyInTerminal()
            kill(getpid(), SIGHUP)
        }
        #expect(try manager(in: scratch.path).lastRunVersion == AppVersion("2.0"))
    }

    @Test func `nobody waits for a device to be unlocked`() async throws {
        let gate = MigrationGate { _ in throw MigrationGate.RequiresUnlock() }
        await #expect(throws: MigrationGate.RequiresUnlock.self) { try await gate.readyInTerminal() }
        // Nothing tries again afterwards.
        await #expect(throws: CancellationError.self) { try await gate.ready() }
    }

    @Test func `the error of the start is thrown`() async throws {
        struct Failure: Error {}
        let gate = MigrationGate { _ in throw Failure() }
        await #expect(throws: Failure.self) { try await gate.readyInTerminal() }
    }
}

private func manager(in folder: String) throws -> MigrationManager {
    try MigrationManager(
        named: "Library",
        currentVersion: "2.0",
        firstRun: .existingData(at: "1.0"),
        stateDirectory: folder + "/state"
    )
}

/// The error of a start that these signals stop, each after the one before it has been received.
private func error(ofStartIn folder: String, stoppedBy numbers: [Int32]) async -> any Error {
    let gate = gate(in: folder) { context in
        for number in numbers {
            kill(getpid(), number)
            while !Task.isCancelled { sched_yield() }
        }
        try Task.checkCancellation()
    }
    do {
        try await gate.readyInTerminal()
        exit(1)
    } catch {
        return error
    }
}

/// Blocks a signal in this thread.
private func block(_ number: Int32) {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// A gate with one migration, which runs `migrate`.
private func gate(
    in folder: String,
    _ migrate: @escaping @Sendable (MigrationContext) throws -> Void
) -> MigrationGate {
    MigrationGate { start in
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: "2.0",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: folder + "/state",
            options: start.options()
        )
        try start.migrate(migrations) { try $0.whenMigrating(toVersion: "2.0", run: migrate) }
    }
}
