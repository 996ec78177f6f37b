#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

enum PlatformHost {
    /// The name of this machine.
    ///
    /// For gethostname(2) it is unspecified whether a name that was cut off ends with NUL, so the last byte
    /// of the buffer stays 0.
    static var name: String {
        var name = [CChar](repeating: 0, count: 256)
        let status = gethostname(&name, name.count - 1)
        let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return status == 0 && !text.isEmpty ? text : "a host without a name"
    }
}
