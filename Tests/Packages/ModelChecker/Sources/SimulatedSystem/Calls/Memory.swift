// Memory, and the locks between the threads of a process: the simulated ones have one thread each.

public func malloc(_ size: Int) -> UnsafeMutableRawPointer {
    let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    if ProcessMemory.isRecording { ProcessMemory.sizes[block] = size }
    return block
}

public func free(_ block: UnsafeMutableRawPointer) {
    if ProcessMemory.isRecording {
        ProcessMemory.sizes[block] = nil
        ProcessMemory.initial[block] = nil
    }
    block.deallocate()
}

public func pthread_mutex_lock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
    if ProcessMemory.isRecording { ProcessMemory.note(mutex) }
}

public func pthread_mutex_unlock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {}

/// The memory that a library keeps for its whole process, which each simulated process has to have for itself.
///
/// It is found in a run before the search: the blocks with a lock in them that are there still when all managers are gone.
/// At each hand-over their bytes are exchanged for those of the process that goes on; a value of Swift can be moved so.
public enum ProcessMemory {
    nonisolated(unsafe) static var isRecording = false
    nonisolated(unsafe) static var sizes: [UnsafeMutableRawPointer: Int] = [:]
    nonisolated(unsafe) static var initial: [UnsafeMutableRawPointer: [UInt8]] = [:]
    nonisolated(unsafe) private static var blocks: [(block: UnsafeMutableRawPointer, initial: [UInt8])] = []
    nonisolated(unsafe) private static var images: [[[UInt8]]] = []
    nonisolated(unsafe) private static var resident = 0

    /// The first lock of a block comes before anything in it was changed.
    static func note(_ block: UnsafeMutableRawPointer) {
        guard initial[block] == nil, let size = sizes[block] else { return }
        initial[block] = Array(UnsafeRawBufferPointer(start: block, count: size))
    }

    /// Finds the blocks; `body` has to use all that the library keeps.
    public static func record(processes: Int, _ body: () -> Void) {
        isRecording = true
        body()
        isRecording = false
        blocks = initial.map { ($0.key, $0.value) }
        images = Array(repeating: blocks.map(\.initial), count: processes)
        resident = 0
        load(images[0])
    }

    public static var count: Int { blocks.count }

    public static func handOver(to process: Int) {
        if process == resident { return }
        images[resident] = blocks.map {
            Array(UnsafeRawBufferPointer(start: $0.block, count: $0.initial.count))
        }
        resident = process
        load(images[process])
    }

    /// Gives a process the memory of one that was just started.
    public static func reset(_ process: Int) {
        if isRecording { return }
        images[process] = blocks.map(\.initial)
        if process == resident { load(images[process]) }
    }

    private static func load(_ image: [[UInt8]]) {
        for (index, bytes) in image.enumerated() {
            UnsafeMutableRawBufferPointer(start: blocks[index].block, count: bytes.count).copyBytes(
                from: bytes
            )
        }
    }
}
