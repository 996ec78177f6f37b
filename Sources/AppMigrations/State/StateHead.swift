/// The beginning of a state's text in the one form that this library writes: all that a start reads.
///
/// Any other text, and a state that holds more than marks, is for ``JSON`` to read, which also says what is wrong with it. So
/// damage behind the head is found by the first start that has work.
package struct StateHead {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// The marks, or `nil` where the whole text has to be read.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, name: String) -> StateMarks? {
        var head = StateHead(bytes)
        var lastRun = AppVersion.zero
        var baseline = AppVersion.zero
        var launched = AppVersion.zero
        var floor = AppVersion.zero
        guard head.pass("{\n  \"format\" : 1,\n  \"name\" : \""), head.passName(name), head.pass("\",\n"),
            head.pass("  \"lastRunVersion\" : \""), head.passVersion(&lastRun),
            head.pass("  \"baseline\" : \""), head.passVersion(&baseline),
            head.pass("  \"launchedVersion\" : \""), head.passVersion(&launched)
        else { return nil }
        if head.pass("  \"minimumAppVersion\" : \""), !head.passVersion(&floor) { return nil }
        head.passFence()
        guard head.pass("  \"history\" : [") else { return nil }
        return StateMarks(lastRun: lastRun, baseline: baseline, launched: launched, minimumAppVersion: floor)
    }

    /// The marks of a state that a fleet keeps in a store.
    package static func read(document: [UInt8], name: String) -> StateMarks? {
        document.withUnsafeBufferPointer { read($0, name: name) }
    }

    private mutating func pass(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - index >= count else { return false }
        for offset in 0..<count where bytes[index + offset] != text.utf8Start[offset] { return false }
        index += count
        return true
    }

    /// Passes a name that stands as it is; one that JSON has to escape differs from its text.
    private mutating func passName(_ name: String) -> Bool {
        for byte in name.utf8 {
            guard index < bytes.count, bytes[index] == byte, byte >= 0x20, byte != 0x22, byte != 0x5C else {
                return false
            }
            index += 1
        }
        return true
    }

    /// Passes the line of a fleet's last lease, where it is one; what it says is no mark.
    private mutating func passFence() {
        let start = index
        guard pass("  \"fence\" : "), index < bytes.count, bytes[index] != 0x30 else { return index = start }
        let digits = index
        while index < bytes.count, index - digits < 18, bytes[index] >= 0x30, bytes[index] <= 0x39 {
            index += 1
        }
        if index == digits || !pass(",\n") { index = start }
    }

    /// Passes a version and the end of its line.
    private mutating func passVersion(_ version: inout AppVersion) -> Bool {
        let start = index
        while index < bytes.count, bytes[index] != 0x22 { index += 1 }
        do throws(VersionReader.Problem) {
            version = try VersionReader.read(UnsafeBufferPointer(rebasing: bytes[start..<index]))
        } catch {
            return false
        }
        return pass("\",\n")
    }
}
