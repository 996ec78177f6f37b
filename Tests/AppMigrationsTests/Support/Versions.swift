@testable import AppMigrations

/// A version that a test writes down; one that can't be read is zero, and the test turns red.
func version(_ text: String) -> AppVersion { AppVersion(text) ?? .zero }
