// The calls by which a process knows itself and the time, by their names in the C library.

public var errno: Int32 {
    get { Machine.errorNumber }
    set { Machine.errorNumber = newValue }
}

public func getpid() -> Int32 { Machine.system.processes[Machine.current].number }

public func getenv(_ name: UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>? { nil }

public func getcwd(_ buffer: UnsafeMutablePointer<CChar>?, _ size: Int) -> UnsafeMutablePointer<CChar>? {
    copied("/")
}

public func time(_ result: UnsafeMutablePointer<time_t>?) -> time_t { Int(Machine.system.wallClock) }

@discardableResult
public func clock_gettime(_ clock: Int32, _ time: UnsafeMutablePointer<timespec>) -> Int32 {
    let (seconds, nanoseconds) = Machine.system.awake.quotientAndRemainder(dividingBy: 1_000_000_000)
    time.pointee = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
    return 0
}

@discardableResult
public func nanosleep(_ duration: UnsafePointer<timespec>, _ rest: UnsafeMutablePointer<timespec>?) -> Int32 {
    let nanoseconds = Int64(duration.pointee.tv_sec) * 1_000_000_000 + Int64(duration.pointee.tv_nsec)
    return Machine.call(.pause, node: Int(nanoseconds), "pause") { () throws(Refusal) in 0 }
}

public func strerror(_ number: Int32) -> UnsafePointer<CChar> { UnsafePointer(copied("error \(number)")) }

/// A point in the code of an app that the scheduler sees as a call, such as the beginning of a closure; `false` in a process
/// that has died.
public func mark(_ text: @escaping @autoclosure () -> String) -> Bool {
    let result = Machine.call(.mark, text()) { () throws(Refusal) in 0 }
    // The process may have died right after it.
    return result == 0 && Machine.isAlive
}
