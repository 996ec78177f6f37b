@_exported public import CSimulatedTypes

/// A call that the system refused, with its error number.
public struct Refusal: Error {
    public let number: Int32

    public init(_ number: Int32) { self.number = number }
}

/// One call of the system, as the scheduler sees it.
public struct Call {
    public enum Kind: UInt8, Sendable {
        case open, create, openFolder, read, write, close, synchronize, synchronizeAll, rename, unlink,
            makeFolder
        case removeFolder, makeLink, readLink, status, lookUp, list, setAttributes, truncate, lock, unlock
        case pause, clock, mark
    }

    public let kind: Kind
    /// The file that an open descriptor leads to; 0 where a path names what is meant.
    public let node: Int
    /// The path that the call looks up, where it does.
    public let path: String?
    public let text: () -> String
}

/// Decides which process goes on, and sees the effects of each call.
public protocol Gate: AnyObject {
    /// Called before each call; gives the number of the error that the call is to fail with, or 0.
    func begin(_ call: Call) -> Int32
    /// Called after each call with its result.
    func end(_ call: Call, _ result: Int, _ number: Int32)
}

/// The machine that the simulated processes share: one disk, one table of open files, one clock.
///
/// One thread at a time may touch it: the thread whose process has the turn.
public enum Machine {
    nonisolated(unsafe) public static var system = SystemState()
    nonisolated(unsafe) public static var gate: (any Gate)?
    /// The process that has the turn.
    nonisolated(unsafe) public static var current = 0
    /// The planted bug that is awake, in a copy of the core that has them.
    nonisolated(unsafe) public static var plantedBug = ""
    nonisolated(unsafe) static var errorNumber: Int32 = 0
    /// The places that each process's last calls depended on: for a process that waits, those that could end the wait.
    nonisolated(unsafe) public static var touches: [SystemState.Touches] = []
    /// The names that some process has given, taken away or moved: others are the same whenever they are looked up.
    nonisolated(unsafe) public static var changedNames: Set<Name> = []
    /// True once a process has opened a file whose bytes another one was changing in place.
    nonisolated(unsafe) public static var isAnyFileShared = false

    /// Makes a call for the process that has the turn.
    @inline(__always)
    static func call<Result: FixedWidthInteger & SignedInteger>(
        _ kind: Call.Kind,
        node: Int = 0,
        path: String? = nil,
        _ text: @escaping @autoclosure () -> String,
        _ body: () throws(Refusal) -> Result
    ) -> Result {
        let call = Call(kind: kind, node: node, path: path, text: text)
        if let gate {
            let number = gate.begin(call)
            if number != 0 {
                errorNumber = number
                observe(UInt64(UInt32(bitPattern: number)) | 1 << 40)
                gate.end(call, -1, number)
                return -1
            }
        }
        do throws(Refusal) {
            let result = try body()
            observe(UInt64(bitPattern: Int64(result)))
            gate?.end(call, Int(result), 0)
            return result
        } catch {
            errorNumber = error.number
            observe(UInt64(UInt32(bitPattern: error.number)) | 1 << 40)
            gate?.end(call, -1, error.number)
            return -1
        }
    }

    /// Makes calls that nothing can come between; the scheduler doesn't see them.
    public static func atOnce(_ body: () -> Void) {
        if !isAlive { return }
        let gate = gate
        self.gate = nil
        body()
        self.gate = gate
    }

    /// Notes what the process that has the turn has seen: two processes that saw the same are in the same state.
    @inline(__always)
    public static func observe(_ value: UInt64) {
        system.processes[current].history = mix(system.processes[current].history, value)
    }

    static func touch(_ touch: SystemState.Touch, _ found: UInt64) {
        if touches[current].places.count == 64 { return }
        touches[current].places.append(touch)
        touches[current].hash = mix(touches[current].hash, found)
    }

    @inline(__always)
    public static func mix(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        // The finalizer of SplitMix64.
        var next = (hash &+ 0x9E37_79B9_7F4A_7C15) ^ (value &* 0xFF51_AFD7_ED55_8CCD)
        next = (next ^ (next &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        next = (next ^ (next &>> 27)) &* 0x94D0_49BB_1331_11EB
        return next ^ (next &>> 31)
    }
}
