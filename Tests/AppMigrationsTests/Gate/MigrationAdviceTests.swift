import Foundation
import Testing

@testable import AppMigrations

/// An error leads to the sentence that helps the user.
struct MigrationAdviceTests {
    static let location = StateLocation(name: "Library", directory: "/d")
    static let version = AppVersion("1.1")

    private static func error(_ code: MigrationError.Code, because cause: (any Error)? = nil)
        -> MigrationError
    {
        MigrationError(code: code, managerName: "Library", version: version, underlyingError: cause)
    }

    private static func systemError(_ number: Int32, _ call: String = "write") -> SystemCallError {
        SystemCallError(call: call, errorNumber: number, path: "/d/file")
    }

    /// An error of the app with another error as a value.
    private enum ImportError: Error { case failed(any Error) }

    /// An error of another domain that Foundation's error has caused.
    private static func ofApp(_ cause: any Error) -> NSError {
        NSError(domain: "App", code: 1, userInfo: [NSUnderlyingErrorKey: cause])
    }

    /// A Cocoa error whose own code doesn't name the reason.
    private static func wrapped(_ number: Int32) -> NSError {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(number))
        return NSError(
            domain: NSCocoaErrorDomain,
            code: CocoaError.Code.fileWriteUnknown.rawValue,
            userInfo: [NSUnderlyingErrorKey: cause]
        )
    }

    @Test(
        arguments: [
            systemError(ENOSPC), systemError(EDQUOT), systemError(ENOSPC, "mkdir"),
            systemError(EDQUOT, "open"), POSIXError(.ENOSPC), CocoaError(.fileWriteOutOfSpace),
            NSError(domain: NSCocoaErrorDomain, code: NSFileWriteOutOfSpaceError), wrapped(ENOSPC),
            ofApp(wrapped(EDQUOT)), ImportError.failed(CocoaError(.fileWriteOutOfSpace)),
            error(.migrationFailed, because: error(.stateNotSaved, because: systemError(ENOSPC))),
        ] as [any Error]
    )
    func `a full disk is recognized, whoever meets it`(cause: any Error) {
        #expect(MigrationAdvice(after: cause) == .makeRoom)
        for code: MigrationError.Code in [
            .stateNotSaved, .checkpointNotSaved, .migrationFailed, .firstRunFailed, .stateUnreadable,
            .unusableDirectory,
        ] {
            let error = Self.error(code, because: cause)
            #expect(MigrationAdvice(after: error) == .makeRoom)
            #expect(MigrationAdvice(after: Self.error(.managerClosed, because: error)) == .makeRoom)
        }
    }

    @Test(
        arguments: [systemError(EIO), POSIXError(.EIO), CocoaError(.fileNoSuchFile), wrapped(EIO)]
            as [any Error]
    )
    func `nobody is asked to make room for another reason`(cause: any Error) {
        #expect(MigrationAdvice(after: cause) == .sendDetails)
        #expect(MigrationAdvice(after: Self.error(.stateNotSaved, because: cause)) == .tryAgain)
    }

    @Test(
        arguments: [
            systemError(EACCES), systemError(EPERM), systemError(EROFS),
            POSIXError(.EACCES), POSIXError(.EPERM), POSIXError(.EROFS),
            CocoaError(.fileReadNoPermission), CocoaError(.fileWriteNoPermission),
            CocoaError(.fileWriteVolumeReadOnly), NSError(domain: NSCocoaErrorDomain, code: 513),
            wrapped(EACCES), ofApp(wrapped(EROFS)), ImportError.failed(POSIXError(.EACCES)),
            error(.migrationFailed, because: error(.unusableDirectory, because: systemError(EACCES))),
        ] as [any Error]
    )
    func `missing permissions are recognized, whoever meets them`(cause: any Error) {
        #expect(MigrationAdvice(after: cause) == .makeWritable)
        for code: MigrationError.Code in [
            .stateNotSaved, .checkpointNotSaved, .migrationFailed, .firstRunFailed, .unusableDirectory,
            .stateUnreadable,
        ] {
            let error = Self.error(code, because: cause)
            #expect(MigrationAdvice(after: error) == .makeWritable)
            #expect(MigrationAdvice(after: Self.error(.managerClosed, because: error)) == .makeWritable)
        }
        // The reason of an error that is transient is another one.
        let transient = MigrationError(code: .migrationFailed, underlyingError: cause, isTransient: true)
        #expect(MigrationAdvice(after: transient) == .tryAgain)
    }

    @Test(
        arguments: [
            (.lockTimeout, .waitForOtherProcess),
            (.cancelled, .continueLater),
            (.usedByNewerApp, .updateApp), (.stateFromNewerFormat, .updateApp),
            (.tooOld, .installEarlierVersion),
            (.attemptLimitReached, .tryAgain), (.migrationFailed, .tryAgain), (.firstRunFailed, .tryAgain),
            (.managerClosed, .tryAgain), (.stateNotSaved, .tryAgain), (.checkpointNotSaved, .tryAgain),
            (.stateUnreadable, .tryAgain), (.stateCorrupted, .sendDetails),
            (.invalidVersion, .sendDetails), (.readOnly, .sendDetails),
        ] as [(MigrationError.Code, MigrationAdvice)]
    )
    func `a code has an advice`(code: MigrationError.Code, advice: MigrationAdvice) {
        #expect(MigrationAdvice(after: Self.error(code)) == advice)
    }

    @Test func `an error of another module that is transient is tried again in a minute`() {
        let lost = MigrationError(code: .readOnly, isTransient: true)
        #expect(MigrationAdvice(after: lost) == .waitForOtherProcess)
        // A server that isn't reached is no device that is locked.
        let unreached = MigrationError(
            code: .stateUnreadable,
            underlyingError: POSIXError(.ECONNREFUSED),
            isTransient: true
        )
        #expect(MigrationAdvice(after: unreached) == .tryAgain)
    }

    @Test func `an error that a closed manager repeats keeps its advice`() {
        let rows: [(MigrationError.Code, MigrationAdvice)] = [
            (.usedByNewerApp, .updateApp), (.cancelled, .continueLater), (.lockTimeout, .waitForOtherProcess),
            (.stateCorrupted, .tryAgain),
        ]
        for (code, advice) in rows {
            let closed = Self.error(.managerClosed, because: Self.error(code))
            #expect(MigrationAdvice(after: closed) == advice)
        }
    }

    @Test func `a locked device is unlocked, wherever the error comes from`() {
        let locked = MigrationGate.RequiresUnlock()
        #expect(MigrationAdvice(after: locked) == .unlockDevice)
        for code: MigrationError.Code in [.firstRunFailed, .migrationFailed] {
            #expect(MigrationAdvice(after: Self.error(code, because: locked)) == .unlockDevice)
        }
        let denied = MigrationError.unreadable(Self.systemError(EPERM), at: Self.location)
        #expect(MigrationAdvice(after: denied) == .unlockDevice)
    }

    @Test func `an app that is too old is updated`() throws {
        let version = try #require(Self.version)
        let error = MigrationGate.RequiresAppVersion(version: version, managerName: "Library")
        #expect(MigrationAdvice(after: error) == .updateApp)
        #expect(MigrationAdvice(after: Self.error(.firstRunFailed, because: error)) == .updateApp)
        #expect(MigrationAdvice(after: CancellationError()) == .continueLater)
    }

    @Test func `each advice is a sentence of its own, under the name that it has in Swift`() {
        let all: [MigrationAdvice] = [
            .makeRoom, .makeWritable, .unlockDevice, .waitForOtherProcess, .continueLater, .updateApp,
            .installEarlierVersion, .tryAgain,
            .sendDetails,
        ]
        #expect(Set(all.map(\.description)).count == all.count)
        #expect(MigrationAdvice.sendDetails.description == "The update failed. Send us the details.")
        #expect(
            all.map(\.name).sorted() == [
                "continueLater", "installEarlierVersion", "makeRoom", "makeWritable",
                "sendDetails",
                "tryAgain", "unlockDevice",
                "updateApp", "waitForOtherProcess",
            ]
        )
        let withoutRetry = all.filter { !$0.offersRetry }
        #expect(withoutRetry == [.updateApp, .installEarlierVersion])
    }
}
