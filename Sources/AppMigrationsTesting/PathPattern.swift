/// A pattern for paths.
///
/// `*` matches any characters except `/`, and `**` matches any characters.
struct PathPattern: Sendable {
    private let text: [UInt8]

    init(_ text: String) { self.text = Array(text.utf8) }

    /// True if the pattern matches `path` or one of the folders that contain it.
    func matches(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") } + [bytes.count]
        return ends.contains { Self.matches(bytes[..<$0], pattern: text[...]) }
    }

    private static func matches(_ path: ArraySlice<UInt8>, pattern: ArraySlice<UInt8>) -> Bool {
        let star = UInt8(ascii: "*")
        guard let first = pattern.first else { return path.isEmpty }
        guard first == star else {
            return path.first == first && matches(path.dropFirst(), pattern: pattern.dropFirst())
        }
        let isDeep = pattern.dropFirst().first == star
        let rest = pattern.dropFirst(isDeep ? 2 : 1)
        var tail = path
        while true {
            if matches(tail, pattern: rest) { return true }
            guard let next = tail.popFirst(), isDeep || next != UInt8(ascii: "/") else { return false }
        }
    }
}
