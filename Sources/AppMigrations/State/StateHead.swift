/// Reads the beginning of a state's text, which is all that a start with nothing to run needs.
///
/// It accepts only text in the exact form that this library writes, and only if the state contains no
/// attempts. ``JSON`` reads any other text in full, and reports an error if the text is damaged.
///
/// So a start that has nothing to run doesn't notice damage after the beginning of the text. The first start
/// that has a migration to run reads the whole text and reports the damage.
package struct StateHead {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    /// Reads the versions, or returns `nil` if the whole text has to be read.
    package static func read(_ bytes: UnsafeBufferPointer<UInt8>, name: String) -> StateVersions? {
        var head = StateHead(bytes: bytes)
        guard head.skip("{\n  \"format\" : 1,\n  \"name\" : \""), head.skipName(name), head.skip("\",\n"),
            head.skip("  \"lastRunVersion\" : \""), let lastRun = head.version(),
            head.skip("  \"baseline\" : \""), let baseline = head.version(),
            head.skip("  \"launchedVersion\" : \""), let launched = head.version()
        else { return nil }
        let isFreshInstall = head.skip("  \"freshInstall\" : \"")
        let freshInstall = isFreshInstall ? head.version() : nil
        guard isFreshInstall == (freshInstall != nil) else { return nil }
        let hasMinimum = head.skip("  \"minimumAppVersion\" : \"")
        let minimum = hasMinimum ? head.version() : nil
        guard hasMinimum == (minimum != nil), head.skipStartOfTail() else { return nil }
        return StateVersions(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            freshInstall: freshInstall,
            minimumAppVersion: minimum ?? .zero
        )
    }

    /// Skips the beginning of the next member; returns false if the text has to be read in full.
    ///
    /// The text has to be read in full unless the next member is `history`, or the next two members are
    /// `droppedVersion` and `history`.
    private mutating func skipStartOfTail() -> Bool {
        if skip("  \"history\" : [") { return true }
        return skip("  \"droppedVersion\" : \"") && version() != nil && skip("  \"history\" : [")
    }

    /// Skips `text`, or returns false if the next bytes don't match it.
    private mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - index >= count else { return false }
        for offset in 0..<count where bytes[index &+ offset] != text.utf8Start[offset] { return false }
        index += count
        return true
    }

    /// Skips a manager's name.
    ///
    /// A name contains no characters that JSON would escape, so its bytes can be compared directly.
    private mutating func skipName(_ name: String) -> Bool {
        for byte in name.utf8 {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }

    /// Reads a version, and skips the rest of its line.
    private mutating func version() -> AppVersion? {
        let start = index
        while index < bytes.count, bytes[index] != 0x22 { index += 1 }
        var reader = VersionReader()
        if reader.read(UnsafeBufferPointer(rebasing: bytes[start..<index])) != nil { return nil }
        return skip("\",\n") ? reader.version() : nil
    }
}
