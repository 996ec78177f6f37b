import CPostgres
import Dispatch
import Glibc
import Synchronization

/// The connection itself, which one task uses at a time.
final class PostgresHandle: @unchecked Sendable {
    let connection: OpaquePointer

    init(_ info: String) async throws {
        guard let connection = PQconnectStart(info) else { throw PostgresError(message: "out of memory") }
        self.connection = connection
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED, PQstatus(connection) != CONNECTION_BAD else {
                throw PostgresError(of: connection)
            }
            await wait(for: state == PGRES_POLLING_READING ? .reading : .writing)
            state = PQconnectPoll(connection)
        }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard PQsetnonblocking(connection, 1) == 0 else { throw PostgresError(of: connection) }
    }

    deinit { PQfinish(connection) }

    private let isClosed = Atomic(false)

    /// True if neither end has closed the connection.
    ///
    /// The task that has its turn asks. The server's last words are read before its end is.
    var isOpen: Bool {
        !isClosed.load(ordering: .relaxed) && (1...2).allSatisfy { _ in PQconsumeInput(connection) == 1 }
    }

    /// Ends the session on the server.
    ///
    /// The memory stays until no task has the handle.
    func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { shutdown(PQsocket(connection), Int32(SHUT_RDWR)) }
    }

    nonisolated(nonsending) func wait(for readiness: Sockets.Readiness) async {
        await Sockets.all.wait(for: readiness, of: PQsocket(connection))
    }
}

/// Asks the server to cancel what a connection runs, on a thread that no task needs: the call of libpq blocks.
final class PostgresCancellation: @unchecked Sendable {
    private let cancel: OpaquePointer?
    private let sending = Mutex<Task<Void, Never>?>(nil)

    init(_ connection: OpaquePointer) { cancel = PQgetCancel(connection) }

    deinit { PQfreeCancel(cancel) }

    func send() {
        let task = Task {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [self] in
                    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { error in
                        // Where the server can't be asked, the statement runs to its end.
                        _ = PQcancel(cancel, error.baseAddress, Int32(error.count))
                    }
                    continuation.resume()
                }
            }
        }
        sending.withLock { $0 = task }
    }

    nonisolated(nonsending) func finish() async { await sending.withLock { $0 }?.value }
}

/// Lets tasks pass one after the other.
final class Turns: Sendable {
    private let state = Mutex((isTaken: false, waiting: [CheckedContinuation<Void, Never>]()))

    nonisolated(nonsending) func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
