#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Who may change a file.
extension Platform {
    /// Whether this user may write to what stands at `path`.
    static func mayWrite(_ path: String) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            _ = try retrying("access") { access(path, W_OK) }
            return true
        } catch {
            // access(2): EPERM in a sandbox and for what is immutable.
            if [EACCES, EPERM, EROFS].contains(error.errorNumber) { return false }
            throw error
        }
    }
}
