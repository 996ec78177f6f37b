/// The bytes of a file, with their hash.
public final class Content: Sendable {
    public let bytes: [UInt8]
    public let hash: UInt64

    public static let empty = Content([])

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var hash = UInt64(bytes.count)
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word = word << 8 | UInt64(byte)
            if index & 7 == 7 { hash = Machine.mix(hash, word) }
        }
        self.hash = Machine.mix(hash, word)
    }
}

/// A name in a folder, as its number in the table of names.
public typealias Name = Int32

/// The names that any path has had.
public enum Names {
    nonisolated(unsafe) private static var numbers: [String: Name] = [:]
    nonisolated(unsafe) private static var texts: [String] = []

    public static func number(_ text: String) -> Name {
        if let number = numbers[text] { return number }
        let number = Name(texts.count)
        numbers[text] = number
        texts.append(text)
        return number
    }

    public static func text(_ number: Name) -> String { texts[Int(number)] }
}

/// A file, folder or link on the simulated disk.
public struct Node {
    public enum Kind: UInt8 { case file, folder, link }

    public struct Entry {
        public let name: Name
        public let node: Int
    }

    /// A change of a folder that no sync has brought to the disk yet; both halves of a move between folders have one number.
    struct Change {
        enum Kind { case add(Name, Int), remove(Name), move(Name, Name, Int) }

        let number: Int
        let kind: Kind

        /// True if the change gives a file or folder its name.
        func isOfNew(_ node: Int) -> Bool {
            if case .add(_, node) = kind { true } else { false }
        }
    }

    public let kind: Kind
    var mode: UInt32
    /// A file's bytes, or where a link leads.
    public internal(set) var content = Content.empty
    public internal(set) var entries: [Entry] = []
    /// The folder above, of a folder.
    var above: Int
    /// The file system that it is on.
    let device: Int
    /// How many names lead to it, and how many open files.
    var links = 0
    var opens = 0
    /// The process that changed its bytes in place last, until the file was given another name.
    var writer: Int32?

    /// The bytes and the names of the last sync, which a power loss leaves.
    var synced: Content?
    var syncedEntries: [Entry] = []
    var changes: [Change] = []

    init(_ kind: Kind, mode: UInt32, above: Int, device: Int) {
        self.kind = kind
        self.mode = mode
        self.above = above
        self.device = device
    }

    func find(_ name: Name) -> Int? { entries.first { $0.name == name }?.node }

    var hash: UInt64 {
        var hash = Machine.mix(content.hash, UInt64(kind.rawValue) << 32 | UInt64(mode))
        hash = Machine.mix(hash, UInt64(links))
        for entry in entries { hash &+= Self.hash(entry.name, entry.node, 1) }
        return hash
    }

    var hashOfUnsynced: UInt64 {
        var hash = Machine.mix(synced?.hash ?? 1, UInt64(changes.count))
        for entry in syncedEntries { hash &+= Self.hash(entry.name, entry.node, 2) }
        for change in changes {
            switch change.kind {
            case .add(let name, let node): hash = Machine.mix(hash, Self.hash(name, node, 3))
            case .remove(let name): hash = Machine.mix(hash, Self.hash(name, 0, 4))
            case .move(let old, let new, let node):
                hash = Machine.mix(hash, Self.hash(old, node, 5) &+ Self.hash(new, 0, 6))
            }
        }
        return hash
    }

    private static func hash(_ name: Name, _ node: Int, _ salt: UInt64) -> UInt64 {
        Machine.mix(salt, UInt64(UInt32(bitPattern: name)) << 32 | UInt64(node))
    }
}
