import AppMigrations
import AppMigrationsCommandLine
import Foundation
import Testing

struct ExitCodeTests {
    private func exitCode(
        after code: MigrationError.Code,
        because cause: (any Error)? = nil,
        isTransient: Bool = false
    ) -> Int32 {
        let error = MigrationError(code: code, underlyingError: cause, isTransient: isTransient)
        return MigrationGate.exitCode(after: error)
    }

    private func systemError(_ number: Int32) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: number, path: "/d/file")
    }

    @Test(
        arguments: [
            (.cancelled, 130),
            (.usedByNewerApp, 78), (.stateFromNewerFormat, 78),
            (.lockTimeout, 75), (.stateUnreadable, 75),
            (.stateCorrupted, 70), (.migrationFailed, 70), (.attemptLimitReached, 70), (.stateNotSaved, 70),
        ] as [(MigrationError.Code, Int32)]
    )
    func `an error of a manager has the exit code of its kind`(code: MigrationError.Code, expected: Int32) {
        #expect(exitCode(after: code) == expected)
    }

    @Test func `an error that is transient asks for another try`() {
        #expect(exitCode(after: .stateNotSaved) == 70)
        #expect(exitCode(after: .stateNotSaved, isTransient: true) == 75)
    }

    @Test func `missing permissions have an exit code of their own`() {
        for code: MigrationError.Code in [
            .stateUnreadable, .stateNotSaved, .migrationFailed, .unusableDirectory,
        ] {
            #expect(exitCode(after: code, because: systemError(EACCES)) == 77)
            #expect(exitCode(after: code, because: systemError(EPERM)) == 77)
            #expect(exitCode(after: code, because: systemError(EROFS)) == 77)
            #expect(exitCode(after: code, because: systemError(EIO)) != 77)
            // For example on a locked device.
            #expect(exitCode(after: code, because: systemError(EPERM), isTransient: true) == 75)
        }
    }

    @Test(
        arguments: [
            CocoaError(.fileWriteNoPermission), CocoaError(.fileReadNoPermission),
            CocoaError(.fileWriteVolumeReadOnly), POSIXError(.EACCES), POSIXError(.EPERM),
        ] as [any Error]
    )
    func `permissions that Foundation misses have the same exit code`(cause: any Error) {
        #expect(MigrationGate.exitCode(after: cause) == 77)
        for code: MigrationError.Code in [.migrationFailed, .firstRunFailed] {
            #expect(exitCode(after: code, because: cause) == 77)
            let closed = MigrationError(code: code, underlyingError: cause)
            #expect(exitCode(after: .managerClosed, because: closed) == 77)
            let transient = MigrationError(code: code, underlyingError: cause, isTransient: true)
            #expect(exitCode(after: .managerClosed, because: transient) == 70)
        }
    }

    @Test func `errors of a gate have exit codes of their own, also below an error of a manager`() throws {
        let version = try AppVersion(parsing: "3.0")
        let newer = MigrationGate.RequiresAppVersion(version: version, managerName: "Library")
        #expect(MigrationGate.exitCode(after: newer) == 78)
        #expect(exitCode(after: .firstRunFailed, because: newer) == 78)
        #expect(MigrationGate.exitCode(after: MigrationGate.RequiresUnlock()) == 75)
        #expect(exitCode(after: .migrationFailed, because: MigrationGate.RequiresUnlock()) == 75)
    }

    @Test func `a cancelled start is not a failure`() {
        #expect(MigrationGate.exitCode(after: CancellationError()) == 130)
    }

    @Test func `an error of the app is a failure`() {
        #expect(MigrationGate.exitCode(after: CocoaError(.fileNoSuchFile)) == 70)
    }
}
