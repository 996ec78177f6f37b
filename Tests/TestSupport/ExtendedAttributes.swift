#if os(Linux)
import Foundation

/// Swift's modules of the C libraries leave these calls out, so the tests find them by their names.
extension TemporaryDirectory {
    /// Gives a file an extended attribute; `false` where its file system has none.
    package func setAttribute(_ attribute: String, to value: [UInt8], of name: String) -> Bool {
        typealias Call =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32
        guard let symbol = dlsym(nil, "lsetxattr") else { return false }
        return unsafeBitCast(symbol, to: Call.self)(file(name), attribute, value, value.count, 0) == 0
    }

    /// The value of an extended attribute; `nil` where there is none.
    package func attribute(_ attribute: String, of name: String) -> [UInt8]? {
        typealias Call =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int
        guard let symbol = dlsym(nil, "lgetxattr") else { return nil }
        var value = [UInt8](repeating: 0, count: 65_536)
        let count = unsafeBitCast(symbol, to: Call.self)(file(name), attribute, &value, value.count)
        return count < 0 ? nil : Array(value[..<count])
    }
}
#endif
