#if canImport(UIKit) && !os(watchOS)
import UIKit
#endif

@MainActor func isUnlocked() -> Bool {
    #if canImport(UIKit) && !os(watchOS)
    UIApplication.shared.isProtectedDataAvailable
    #else
    true
    #endif
}
