import Glibc

/// The tasks of all simulated hosts, on this one thread and in the order in which they became ready.
///
/// The runtime hands each piece of a task to a hook, instead of to its threads. So the order is the same in each execution.
enum Jobs {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    nonisolated(unsafe) private static var ready: [UnownedJob] = []
    nonisolated(unsafe) private static var isTaken = false

    static func takeOver() {
        if isTaken { return }
        isTaken = true
        guard let hook = dlsym(nil, "swift_task_enqueueGlobal_hook") else {
            say("The runtime has no hook for the tasks.")
            end(2)
        }
        hook.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in Jobs.ready.append(job) }
    }

    /// Runs everything that can go on, until each task waits.
    static func drain() {
        var next = 0
        while next < ready.count {
            next += 1
            run(ready[next - 1], unsafeBitCast((0, 0), to: UnownedSerialExecutor.self))
        }
        ready.removeAll(keepingCapacity: true)
    }
}

/// The runtime's function for executors; two zeros stand for no particular executor.
@_silgen_name("swift_job_run")
private func run(_ job: UnownedJob, _ executor: UnownedSerialExecutor)
