#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// What must be true of every input, for whatever feeds them in.
///
/// It is compiled together with the library's sources, so that it reaches the codec and the parser
/// themselves.
enum Fuzz {
    static let name = "Library"

    static func check(_ bytes: UnsafeBufferPointer<UInt8>) {
        checkState(bytes)
        checkVersion(bytes)
    }

    /// A text is refused by both readers or read alike by both, and what was read survives being written and read.
    private static func checkState(_ bytes: UnsafeBufferPointer<UInt8>) {
        let marks = try? StateMarks.read(bytes, name: name)
        for cut in [bytes.count / 3, bytes.count * 2 / 3] {
            guard let paged = readPages(bytes, from: cut) else { continue }
            expect(paged == marks, "the reader in pages and the one of the whole differ", bytes)
        }
        guard let state = try? MigrationState.read(bytes, name: name) else { return }
        expect(marks == state.marks, "the quick reader and the whole one differ", bytes)
        let written = state.document
        let again = written.withUnsafeBufferPointer { try? MigrationState.read($0, name: name) }
        expect(again == state, "the state changed by being written", bytes)
        let quick = written.withUnsafeBufferPointer { try? StateMarks.read($0, name: name) }
        expect(quick == state.marks, "the quick reader misreads what was written", bytes)
    }

    /// What a start makes of a text whose beginning is all that its buffer holds.
    private static func readPages(_ bytes: UnsafeBufferPointer<UInt8>, from cut: Int) -> StateMarks? {
        let beginning = UnsafeBufferPointer(rebasing: bytes[..<cut])
        guard let marks = try? StateMarks.read(beginning, name: name, isWhole: false) else { return nil }
        var end = HistoryEnd()
        for start in stride(from: cut, to: bytes.count, by: 5) {
            let page = bytes[start..<min(start + 5, bytes.count)]
            guard end.passes(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: page))) else { return nil }
        }
        return end.isComplete ? marks : nil
    }

    /// A version's text survives, and its order agrees with that of its numbers.
    private static func checkVersion(_ bytes: UnsafeBufferPointer<UInt8>) {
        let parts = bytes.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        let versions = parts.compactMap { part -> AppVersion? in
            let reading = AppVersion.read(UnsafeBufferPointer(rebasing: part))
            guard case .version(let version) = reading else { return nil }
            return version
        }
        for version in versions {
            let again = AppVersion(version.description)
            expect(again == version && again?.hashValue == version.hashValue, "the version changed", bytes)
            expect(again?.description == version.description, "the version's text changed", bytes)
        }
        guard versions.count == 2 else { return }
        let (left, right) = (versions[0], versions[1])
        expect((left < right) == precedes(left, right), "the order is wrong", bytes)
        expect(
            (left == right) == (!precedes(left, right) && !precedes(right, left)),
            "equality is wrong",
            bytes
        )
    }

    /// The order by numbers: release by release with zeros for what is missing, then the sub-number, none first.
    private static func precedes(_ left: AppVersion, _ right: AppVersion) -> Bool {
        let (one, other) = (left.releaseComponents, right.releaseComponents)
        for index in 0..<max(one.count, other.count) {
            let first = index < one.count ? one[index] : 0
            let second = index < other.count ? other[index] : 0
            if first != second { return first < second }
        }
        guard let second = right.subNumber else { return false }
        guard let first = left.subNumber else { return true }
        return first < second
    }

    private static func expect(_ condition: Bool, _ text: String, _ bytes: UnsafeBufferPointer<UInt8>) {
        if condition { return }
        let input = String(decoding: bytes, as: UTF8.self)
        print("LOST \(text): \(input.debugDescription)")
        fflush(nil)
        abort()
    }
}
