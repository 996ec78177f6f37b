#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The claims that hold for every input, for whatever feeds them in.
///
/// It is compiled together with the library's sources, so that it reaches the codec and the parser
/// themselves.
enum Fuzz {
    static let name = "Library"

    static func check(_ bytes: UnsafeBufferPointer<UInt8>) {
        checkState(bytes)
        checkVersion(bytes)
    }

    /// A state that was read survives being written and read, and a start reads the same versions, if it reads any.
    private static func checkState(_ bytes: UnsafeBufferPointer<UInt8>) {
        let head = StateHead.read(bytes, name: name)
        guard let state = read(Array(bytes)) else { return checkAlone(head, bytes) }
        expect(head == nil || head == state.versions, "the head and the whole differ", bytes)
        let written = state.document
        expect(read(written) == state, "the state changed by being written", bytes)
        let isPlain =
            state.versions.latestAttempt == nil && state.versions.otherAttempts.isEmpty
            && state.otherMembers.isEmpty
        let quick = written.withUnsafeBufferPointer { StateHead.read($0, name: name) }
        expect(quick == (isPlain ? state.versions : nil), "the head misreads what was written", bytes)
        checkHistory(state.history, bytes)
    }

    /// Rows that can be read survive being written and read.
    private static func checkHistory(_ history: History, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let rows = try? history.rows() else { return }
        // A duration may be rounded the first time.
        let again = try? History(rows: rows).rows()
        expect(again?.count == rows.count, "a row was lost by being written", bytes)
        expect(again.map { try? History(rows: $0).rows() } == again, "a row changed by being written", bytes)
    }

    /// Only what stands behind it may be wrong with a text whose head is read.
    private static func checkAlone(_ head: StateVersions?, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let head else { return }
        let bracket = bytes.firstIndex(of: 0x5B) ?? 0
        let alone = read(bytes[...bracket] + Array("]}".utf8))
        expect(alone?.versions == head, "a head is read that isn't one", bytes)
    }

    private static func read(_ bytes: [UInt8]) -> MigrationState? {
        try? MigrationState(document: bytes, at: StateLocation(name: name, directory: "/"))
    }

    /// A version's text survives, and its order agrees with that of its numbers.
    private static func checkVersion(_ bytes: UnsafeBufferPointer<UInt8>) {
        let parts = bytes.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        let versions = parts.compactMap { part -> AppVersion? in
            AppVersion(String(decoding: part, as: UTF8.self))
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
        let ((one, first), (other, second)) = (numbers(of: left), numbers(of: right))
        for index in 0..<max(one.count, other.count) {
            let (mine, theirs) = (index < one.count ? one[index] : 0, index < other.count ? other[index] : 0)
            if mine != theirs { return mine < theirs }
        }
        return second.map { second in first.map { $0 < second } ?? true } ?? false
    }

    private static func numbers(of version: AppVersion) -> (release: [UInt64], subNumber: UInt64?) {
        let parts = version.description.split(separator: "-")
        let release = parts[0].split(separator: ".").compactMap { UInt64($0) }
        return (release, parts.count > 1 ? UInt64(parts[1]) : nil)
    }

    private static func expect(_ condition: Bool, _ text: String, _ bytes: UnsafeBufferPointer<UInt8>) {
        if condition { return }
        let input = String(decoding: bytes, as: UTF8.self)
        print("LOST \(text): \(input.debugDescription)")
        fflush(nil)
        abort()
    }
}
