import CPostgres
import Glibc
import Synchronization

/// One thread that waits for all sockets, so that no task blocks one.
final class Sockets: Sendable {
    enum Readiness { case reading, writing }

    static let all = Sockets()

    private let queue = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let waiting = Mutex([Int32: CheckedContinuation<Void, Never>]())

    private init() {
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { _ in
                while true { Sockets.all.waitOnce() }
            },
            nil
        )
    }

    nonisolated(nonsending) func wait(for readiness: Readiness, of socket: Int32) async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0[socket] = continuation }
            var event = epoll_event()
            event.data.fd = socket
            event.events = EPOLLONESHOT.rawValue | (readiness == .reading ? EPOLLIN : EPOLLOUT).rawValue
            // A number can be another socket's by now, which is not in the queue yet.
            if epoll_ctl(queue, EPOLL_CTL_MOD, socket, &event) != 0 {
                epoll_ctl(queue, EPOLL_CTL_ADD, socket, &event)
            }
        }
    }

    private func waitOnce() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 16) { events in
            let count = epoll_wait(queue, events.baseAddress, Int32(events.count), -1)
            for event in events.prefix(Int(max(0, count))) {
                waiting.withLock { $0.removeValue(forKey: event.data.fd) }?.resume()
            }
        }
    }
}
