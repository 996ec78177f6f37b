internal import AppMigrationsSystem

/// A thread that runs an ``SQLOperation`` for a task whose connection is asynchronous.
///
/// When the operation needs a statement, the thread passes the request to the task and waits. The task awaits
/// the connection, and then passes the answer back.
///
/// At any time, either the thread waits for the task or the task for the thread. So data that both use needs
/// no other lock. The thread isn't one of Swift's pool. If it were, the task that the operation waits for
/// might not get a thread.
final class SQLThread: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let answered = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var operation = {}

    private enum Mailbox {
        case empty
        case request(SQLRequest)
        /// The operation has returned.
        case ended
    }

    /// The request of the operation that the task has not taken yet.
    private var mailbox = Mailbox.empty
    private var task: UnsafeContinuation<Void, Never>?
    private var answer: Result<SQLRows, any Error>?

    /// True if the task was cancelled when it passed its last answer.
    private(set) var isCancelled: Bool

    init(isCancelled: Bool) {
        self.isCancelled = isCancelled
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(answered, nil)
    }

    deinit {
        pthread_cond_destroy(answered)
        pthread_mutex_destroy(mutex)
        answered.deallocate()
        mutex.deallocate()
    }

    /// Runs an operation on a new thread.
    func begin(_ operation: @escaping () -> Void) throws(SQLError) {
        self.operation = operation
        // Whether `pthread_t` is a pointer depends on the C library.
        #if canImport(Darwin) || canImport(Musl)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let retained = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread,
            nil,
            { argument in
                pthread_detach(pthread_self())
                // The C libraries differ in whether this pointer is optional in Swift.
                let argument: UnsafeMutableRawPointer? = argument
                guard let argument else { return nil }
                let thread = Unmanaged<SQLThread>.fromOpaque(argument).takeRetainedValue()
                thread.operation()
                thread.operation = {}
                thread.put(.ended)
                return nil
            },
            retained.toOpaque()
        )
        if result == 0 { return }
        retained.release()
        throw SQLError(
            .statementFailed,
            "A thread could not be created (pthread_create returned \(result)). No statement was run"
        )
    }

    /// Passes a request to the task, and waits for its answer.
    func ask(_ request: SQLRequest) throws -> SQLRows {
        put(.request(request))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = answer {
                answer = nil
                return try result.get()
            }
            pthread_cond_wait(answered, mutex)
        }
    }

    private func put(_ content: Mailbox) {
        pthread_mutex_lock(mutex)
        mailbox = content
        let waiting = task
        task = nil
        pthread_mutex_unlock(mutex)
        waiting?.resume()
    }

    /// The next request of the operation; `nil` when it has returned.
    nonisolated(nonsending) func next() async -> SQLRequest? {
        await withUnsafeContinuation { continuation in
            pthread_mutex_lock(mutex)
            let isEmpty = if case .empty = mailbox { true } else { false }
            if isEmpty { task = continuation }
            pthread_mutex_unlock(mutex)
            if !isEmpty { continuation.resume() }
        }
        defer { mailbox = .empty }
        return if case .request(let request) = mailbox { request } else { nil }
    }

    /// Answers the request that `next` returned.
    func give(_ answer: Result<SQLRows, any Error>, isCancelled: Bool) {
        pthread_mutex_lock(mutex)
        self.isCancelled = isCancelled
        self.answer = answer
        pthread_cond_signal(answered)
        pthread_mutex_unlock(mutex)
    }
}
