#if canImport(Darwin)
public import Foundation

extension SQLError: LocalizedError {
    /// The text of ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
#endif
