import Glibc

/// Lets one thread wait until another hands it the turn.
final class Baton: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    func pass() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Starts a thread that runs `body` for ever.
    static func startThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { body in
                if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
                return nil
            },
            Unmanaged.passRetained(Body(body)).toOpaque()
        )
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The processor's time that this process has taken: the machine may be busy with other work.
    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
