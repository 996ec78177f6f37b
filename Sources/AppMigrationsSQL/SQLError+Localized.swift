#if canImport(Darwin)
public import Foundation

extension SQLError: LocalizedError {
    /// The same text as ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif
