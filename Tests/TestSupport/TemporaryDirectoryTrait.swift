package import Testing

/// Gives each test of a suite a folder of its own, ``TemporaryDirectory/current``, which is gone after the test.
///
/// It also ends the process if a test doesn't end, as ``WatchdogTrait`` does.
package struct TemporaryDirectoryTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Watchdog.watch(test) {
            try await withTemporaryDirectory { directory async throws in
                try await TemporaryDirectory.$ofTest.withValue(directory) { try await function() }
            }
        }
    }
}

extension Trait where Self == TemporaryDirectoryTrait {
    package static var temporaryDirectory: Self { Self() }
}

extension TemporaryDirectory {
    @TaskLocal fileprivate static var ofTest: TemporaryDirectory?

    /// The folder of the test that runs.
    ///
    /// A suite keeps it, since a thread that a test starts doesn't know its test.
    package static var current: TemporaryDirectory {
        guard let ofTest else { preconditionFailure("The suite needs the trait .temporaryDirectory.") }
        return ofTest
    }
}
