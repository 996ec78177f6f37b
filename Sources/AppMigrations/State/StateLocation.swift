/// Where a manager's files are: the state, and beside it the lock and the snapshot.
///
/// A class, since nearly every function of this library is handed one: four words to copy and to count in each were a tenth
/// of its code.
package final class StateLocation: Sendable {
    package let name: String
    /// An absolute path, or one that `getcwd` completed when the manager was made.
    package let directory: String
    /// What an error calls the store of a state that is no file, which has no path.
    private let store: String?

    package init(name: String, directory: String, store: String? = nil) {
        self.name = name
        self.directory = directory
        self.store = store
    }

    /// The path of the state file, or what an error calls a state that is no file.
    package var state: String {
        guard let store else { return file(".migrations.json") }
        return "document " + name.quoted + " in " + store
    }
    /// The path of the state, where it is a file.
    var path: String? { store == nil ? state : nil }
    var lock: String { file(".migrations.lock") }
    var snapshot: String { file(Self.snapshotSuffix) }

    /// The snapshot that is in use, or the next one: not one that holds copies which were given up and could not be moved aside.
    func snapshotInUse() throws(SystemCallError) -> String {
        var (folder, number) = (snapshot, 2)
        while try Platform.status(folder + "/" + Self.keptMark) != nil {
            folder = "\(snapshot)-\(number)"
            number += 1
        }
        return folder
    }

    static var keptMark: String { "kept" }

    /// Where copies stay that are not put back, by a user's choice or since the state was lost; numbered where one second has several.
    func kept(_ time: Int64, _ number: Int) -> String {
        let time = Timestamp.text(time).filter { $0 != "-" && $0 != ":" }
        return file(".migrations.kept-\(time)" + (number == 1 ? "" : "-\(number)"))
    }

    /// Saving happens under the lock only, so one name serves: what stands there was left by a killed process.
    var temporary: String { file(".migrations.json.tmp") }

    static var suffix: StaticString { ".migrations.json" }
    static var snapshotSuffix: String { ".migrations.snapshot" }

    // File systems take names of 255 bytes; the longest suffix of ours has 20, and a copy of the file may want some.
    package static var nameLimit: Int { 230 }

    private func file(_ suffix: String) -> String {
        var encoded = ""
        for (index, byte) in name.utf8.enumerated() {
            if Self.stands(byte, first: index == 0) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0" + digits : "%" + digits
            }
        }
        return directory + (directory.utf8.last == 0x2F ? "" : "/") + encoded + suffix
    }

    @inline(__always)
    private static func stands(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D: true
        case 0x2E: !first
        default: false
        }
    }

    /// How many bytes the name takes in a file name.
    package static func encodedLength(_ name: String) -> Int {
        var length = 0
        for byte in name.utf8 { length &+= stands(byte, first: length == 0) ? 1 : 3 }
        return length
    }

    /// Writes the state file's path with its final NUL; gives its length, the NUL included, or 0 when `buffer` is too
    /// short for it.
    ///
    /// The start's own way to ``state``, without a `String`: tests hold the two against each other.
    static func writeStatePath(
        directory: String,
        name: String,
        into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var directory = directory
        var name = name
        var end = directory.withUTF8 { directory in
            guard directory.count &+ 1 &+ nameLimit &+ suffix.utf8CodeUnitCount < buffer.count else {
                return 0
            }
            for index in 0..<directory.count { buffer[index] = directory[index] }
            return directory.count
        }
        if end == 0 { return 0 }
        if buffer[end &- 1] != 0x2F {
            buffer[end] = 0x2F
            end &+= 1
        }
        // The name's length was checked when the manager was made.
        name.withUTF8 { name in
            for index in 0..<name.count {
                let byte = name[index]
                if stands(byte, first: index == 0) {
                    buffer[end] = byte
                    end &+= 1
                } else {
                    buffer[end] = 0x25
                    buffer[end &+ 1] = digit(byte &>> 4)
                    buffer[end &+ 2] = digit(byte & 0x0F)
                    end &+= 3
                }
            }
        }
        for index in 0..<suffix.utf8CodeUnitCount { buffer[end &+ index] = suffix.utf8Start[index] }
        end &+= suffix.utf8CodeUnitCount
        buffer[end] = 0
        return end &+ 1
    }

    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x37 &+ value }
}
