import AppMigrations
public import Foundation

/// Why the version that the old library recorded could not be read or saved.
///
/// ``description`` names the key, its value and the place, and says what to do. How you get this error
/// depends on where it occurs:
///
/// - In `firstRun:`, you get a `MigrationError` with the code `firstRunFailed` and this error as its
///   `underlyingError`.
/// - In the declaration of a pending migration, the code is `migrationFailed`, and the closure wasn't called.
/// - In the declaration of a migration that is recorded, you get this error itself, with the code
///   ``Code/notSaved``. If the keys can't be read, nothing is thrown, and the event `oldVersionNotRaised` is
///   sent.
public struct LegacyDefaultsError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// Later releases may add kinds, so a `switch` needs a `default`.
    public let code: Code

    /// The key in the user defaults; `nil` if the error concerns all keys.
    public let key: String?

    /// The whole text: what happened, where, and what to do.
    public let description: String

    /// The error of the file operation that failed; `nil` if no file operation of this library failed.
    ///
    /// It is always `nil` for a suite, and for `LegacyManager.Defaults.standard` on Apple's systems: they say
    /// that the keys couldn't be saved, and not why.
    public let underlyingError: (any Error)?

    init(code: Code, key: String?, description: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.key = key
        self.description = description
        self.underlyingError = underlyingError
    }
}

extension LegacyDefaultsError {
    /// The kinds of ``LegacyDefaultsError``.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, as it is written in Swift.
        public let description: String

        /// The value of a key isn't a string.
        ///
        /// Nothing was changed. The old libraries write only strings, so other code has written this value.
        public static var unexpectedValue: Code { Code(description: "unexpectedValue") }

        /// The value of a key isn't a version, or is above `lastRelease`, and `resolvingVersion:` returned
        /// `nil` or a text that isn't a version.
        ///
        /// Nothing was changed.
        public static var unknownVersion: Code { Code(description: "unknownVersion") }

        /// The suite or the file with the keys can't be read.
        ///
        /// On Linux, it is also thrown if Foundation can't save values that this process has changed with
        /// `UserDefaults`, because the file doesn't contain them.
        ///
        /// Nothing was changed.
        public static var unreadable: Code { Code(description: "unreadable") }

        /// A version could not be saved for users who go back to an older release.
        ///
        /// If it is thrown after a migration has been recorded, the migration stays recorded, and the next
        /// start tries to save the version again. If it is the cause of a `migrationFailed`, the closure
        /// wasn't called.
        public static var notSaved: Code { Code(description: "notSaved") }
    }
}

extension LegacyDefaultsError: AdvisedError {
    /// The advice after the underlying error.
    ///
    /// If user defaults can't be saved, the reason is unknown. On Apple's systems, a full disk is assumed. It
    /// is the most likely reason, because the system itself manages the file of the user defaults. On other
    /// systems, Foundation writes the file in the app's process, which also fails for other reasons.
    package var userAdvice: MigrationAdvice? {
        if let underlyingError { return MigrationAdvice.known(after: underlyingError) }
        #if canImport(Darwin)
        return code == .notSaved ? .makeRoom : nil
        #else
        return nil
        #endif
    }
}

extension LegacyDefaultsError: LocalizedError {
    public var errorDescription: String? { description }
}

extension LegacyDefaultsError {
    static func unexpectedValue(
        _ value: Any,
        ofKey key: String,
        in defaults: LegacyManager.Defaults
    ) -> LegacyDefaultsError {
        let text = """
            The key "\(key)" in \(defaults) has the value \(value), which isn't a string. The old library writes only strings. \
            The value was not changed. Remove the key, or set it to the version of the data, for example "1.2".
            """
        return LegacyDefaultsError(code: .unexpectedValue, key: key, description: text)
    }

    static func unknownVersion(
        _ text: String,
        ofKey key: String,
        in defaults: LegacyManager.Defaults,
        lastRelease: AppVersion
    ) -> LegacyDefaultsError {
        let problem =
            AppVersion(text) == nil
            ? "which isn't a version"
            : "which is above \(lastRelease), the last release with the old library"
        let message = """
            The key "\(key)" in \(defaults) has the value "\(text)", \(problem). The value was not changed. In \
            resolvingVersion:, return the version of the data for this value.
            """
        return LegacyDefaultsError(code: .unknownVersion, key: key, description: message)
    }

    static func invalidResolution(
        _ resolved: String,
        of text: String,
        ofKey key: String,
        in defaults: LegacyManager.Defaults
    ) -> LegacyDefaultsError {
        let message = """
            For the value "\(text)" of the key "\(key)" in \(defaults), resolvingVersion: returned "\(resolved)", which isn't \
            a version. The value was not changed. Return a version such as "1.2".
            """
        return LegacyDefaultsError(code: .unknownVersion, key: key, description: message)
    }

    static func unavailableSuite(_ name: String) -> LegacyDefaultsError {
        let text = """
            There is no suite "\(name)" of the user defaults. The app's own bundle identifier can't be used as a suite. Use \
            Defaults.standard, or the name of an app group.
            """
        return LegacyDefaultsError(code: .unreadable, key: nil, description: text)
    }

    #if !canImport(Darwin)
    static func unsavedDefaults(in defaults: LegacyManager.Defaults) -> LegacyDefaultsError {
        let text = """
            This process has changed \(defaults), and the changes could not be saved. The keys of the old library were not read \
            or changed. Check that the disk has free space, and that this process can write its preferences, and start the app \
            again.
            """
        return LegacyDefaultsError(code: .unreadable, key: nil, description: text)
    }
    #endif

    static func unreadableFile(
        in defaults: LegacyManager.Defaults,
        reason: String,
        because cause: (any Error)? = nil
    ) -> LegacyDefaultsError {
        let text = """
            The keys in \(defaults) can't be read: \(reason.sentence) The file was not changed. Replace it with a readable \
            copy, or remove it: without the file there are no keys.
            """
        return LegacyDefaultsError(
            code: .unreadable,
            key: nil,
            description: text,
            underlyingError: cause
        )
    }

    static func notSaved(
        _ key: String,
        in defaults: LegacyManager.Defaults,
        reason: String,
        because cause: (any Error)? = nil
    ) -> LegacyDefaultsError {
        let remedy =
            switch cause {
            case let cause? where MigrationAdvice(after: cause) == .makeRoom: "Free some space on the device"
            case nil: "Check that the disk has free space, and that this process can write its preferences"
            default: "Check that this process can write the file and its folder"
            }
        let text = """
            The key "\(key)" in \(defaults) could not be saved: \(reason.sentence) \(remedy), and start the app again.
            """
        return LegacyDefaultsError(code: .notSaved, key: key, description: text, underlyingError: cause)
    }

    /// This error, with a sentence that the migration is recorded, for a key that can't be saved after that.
    var afterRecord: LegacyDefaultsError {
        let text = "\(description) The migrations that have run are recorded and won't be repeated."
        return LegacyDefaultsError(
            code: code,
            key: key,
            description: text,
            underlyingError: underlyingError
        )
    }
}

extension String {
    /// The text with a full stop at its end.
    fileprivate var sentence: String { hasSuffix(".") ? self : self + "." }
}
