import SimulatedSystem

/// The place of one simulated process: its thread, and where its program is.
final class Slot: @unchecked Sendable {
    enum Status { case idle, ready, running, sleeping, finished }

    let number: Int
    let baton = Baton()
    var status = Status.idle
    var program: Scenario.Program?
    /// How many processes were started here: each is another one to the others.
    var starts = 0
    /// Its calls are refused until its program has ended.
    var isDead = false
    /// True while the thread is inside of the program.
    var isEntered = false
    var pending: Call?
    /// The error that the pending call is to fail with.
    var fault: Int32 = 0

    /// While it sleeps: what the processes shared when it looked last.
    var seen: UInt64 = 0
    /// The value of `seen` when the process began to wait: a wait that finds nothing else is where it was.
    var historyOfWait: UInt64?
    var waitedFor: Int?
    /// True if another process had the last lock that this one asked for.
    var isRefusedLock = false
    /// Goes on polling without giving the turn back.
    var isStalling = false
    var polls = 0

    init(_ number: Int) { self.number = number }

    func reset() {
        status = .idle
        (isDead, isEntered, isStalling, isRefusedLock) = (false, false, false, false)
        (pending, historyOfWait, waitedFor) = (nil, nil, nil)
        (fault, seen, polls, starts) = (0, 0, 0, 0)
    }
}
