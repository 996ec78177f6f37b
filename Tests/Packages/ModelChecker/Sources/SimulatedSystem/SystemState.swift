/// All that the simulated processes share, and what the system keeps for each of them.
public struct SystemState {
    public struct Process {
        public var number: Int32
        /// A hash of everything that the process has seen: its code is deterministic, so this is its state.
        public var history: UInt64
        public var isDead = false
        public var descriptors: [Int?] = []

        public init(number: Int32, history: UInt64 = 0) {
            self.number = number
            self.history = history
        }
    }

    /// The open file behind a descriptor; copies of a descriptor share one.
    struct OpenFile {
        enum Lock: UInt64 { case none, shared, exclusive }

        let node: Int
        let isWritable: Bool
        var isNameOnly = false
        var offset = 0
        var copies = 1
        var lock = Lock.none
        let process: Int
    }

    /// Something that the result of a call depends on.
    public enum Touch {
        case name(Int, Name)
        case lock(Int)
        case bytes(Int)
    }

    public struct Touches {
        public internal(set) var places: [Touch] = []
        /// The hash of the finds there.
        public internal(set) var hash: UInt64 = 0

        public init() {}
    }

    public var disk = Disk()
    public var processes: [Process] = []
    var files: [OpenFile?] = []
    /// Nanoseconds; it stands still but for what a wait lets pass.
    public var awake: Int64 = 1_000_000_000_000
    public var wallClock: Int64 = 1_790_000_000

    public init() {}

    mutating func openFile(_ node: Int, isWritable: Bool, isNameOnly: Bool = false) -> Int {
        disk.open(node)
        let file = OpenFile(
            node: node,
            isWritable: isWritable,
            isNameOnly: isNameOnly,
            process: Machine.current
        )
        let index = files.firstIndex { $0 == nil } ?? files.count
        if index == files.count { files.append(file) } else { files[index] = file }
        return describe(index)
    }

    /// Gives the lowest free descriptor from 3 on; the streams of the process are never closed.
    mutating func describe(_ file: Int) -> Int {
        let table = processes[Machine.current].descriptors
        let index = table.firstIndex { $0 == nil } ?? table.count
        if index == table.count {
            processes[Machine.current].descriptors.append(file)
        } else {
            processes[Machine.current].descriptors[index] = file
        }
        return index + 3
    }

    func index(_ descriptor: Int32) throws(Refusal) -> Int {
        let table = processes[Machine.current].descriptors
        guard descriptor >= 3, Int(descriptor) - 3 < table.count, let index = table[Int(descriptor) - 3]
        else { throw Refusal(EBADF) }
        return index
    }

    func file(_ descriptor: Int32) throws(Refusal) -> OpenFile {
        guard let file = files[try index(descriptor)] else { throw Refusal(EBADF) }
        return file
    }

    func nodeNumber(_ descriptor: Int32) -> Int {
        do throws(Refusal) { return try file(descriptor).node } catch { return 0 }
    }

    mutating func close(_ descriptor: Int32) throws(Refusal) {
        let index = try index(descriptor)
        processes[Machine.current].descriptors[Int(descriptor) - 3] = nil
        release(index, of: Machine.current)
    }

    private mutating func release(_ index: Int, of process: Int) {
        guard let file = files[index] else { return }
        if file.copies > 1 {
            files[index]?.copies -= 1
            return
        }
        files[index] = nil
        disk.close(file.node)
    }

    /// Closes the descriptors of a process that died or ended, and gives its locks back.
    public mutating func end(_ process: Int) {
        for file in processes[process].descriptors {
            if let file { release(file, of: process) }
        }
        processes[process].descriptors = []
        processes[process].isDead = true
    }

    /// True if another open file has the lock of this one.
    func isLocked(_ node: Int, besides own: Int, sharing: Bool) -> Bool {
        for (index, file) in files.enumerated() where index != own {
            guard let file, file.node == node, file.lock != .none else { continue }
            if !sharing || file.lock == .exclusive { return true }
        }
        return false
    }

    /// True if a live process has the lock of that file for itself.
    public func isHeld(_ node: Int) -> Bool { files.contains { $0?.node == node && $0?.lock == .exclusive } }

    /// The hash of what a process would find now where its last calls looked.
    public func hashOfTouches(_ process: Int) -> UInt64 {
        var hash: UInt64 = 0
        for touch in Machine.touches[process].places {
            switch touch {
            case .name(let folder, let name):
                hash = Machine.mix(hash, UInt64(disk.nodes[folder]?.find(name) ?? 0))
            case .bytes(let node): hash = Machine.mix(hash, disk.nodes[node]?.hash ?? 0)
            case .lock(let node): hash = Machine.mix(hash, lockOfOthers(node, process))
            }
        }
        return hash
    }

    func lockOfOthers(_ node: Int, _ process: Int) -> UInt64 {
        var lock: UInt64 = 0
        for file in files {
            guard let file, file.node == node, file.process != process else { continue }
            lock = max(lock, file.lock.rawValue)
        }
        return lock
    }

    /// The state that processes share: disk and locks.
    public var sharedHash: UInt64 {
        var hash = disk.hash
        for file in files {
            guard let file, file.lock != .none else { continue }
            hash &+= Machine.mix(UInt64(file.node) << 8 | file.lock.rawValue, UInt64(file.process) | 1 << 60)
        }
        return hash
    }
}
