public import AppMigrations

/// The state that MFMigrationManager or MTMigration recorded in the user defaults.
///
/// Both libraries save the version up to which they have migrated in the app's user defaults.
/// `LegacyManager` reads this version, so that a `MigrationManager` can continue from it. It also keeps the
/// version up to date for users who go back to an older release of the app.
///
/// ```swift
/// let old = try LegacyManager(
///     of: .mfMigrationManager(named: "Library"),
///     lastRelease: "3.5"
/// )
/// let migrations = try MigrationManager(
///     named: "Library",
///     currentVersion: "4.0",
///     firstRun: old.firstRun(isUnlocked: true),
///     stateDirectory: folder
/// )
/// try migrations.whenMigrating(
///     toVersion: "3.1-1",
///     unlessRunBy: old
/// ) {
///     try moveNotes()
/// }
/// try migrations.whenMigrating(toVersion: "4.0") {
///     try makeDatabase()
/// }
/// ```
///
/// Continue each manager of the old library with exactly one `MigrationManager`. If two `MigrationManager`s
/// shared a key, each would think that an older release had run the other's migrations.
public struct LegacyManager: Sendable {
    /// The library that the old releases used, and the name of its manager if it had one.
    public let library: Library

    /// The version of the last release that used the old library.
    public let lastRelease: AppVersion

    let defaults: Defaults
    private let resolve: @Sendable (_ text: String) throws -> String?

    /// Lets only the first of many declarations report that the keys can't be read.
    ///
    /// Copies of this struct share it.
    let reportOfUnreadableKeys = OneTimeFlag()

    /// Describes where the old library recorded its state; nothing is read yet.
    ///
    /// - Parameters:
    ///   - library: The old library, and the name of its manager if it had one.
    ///   - lastRelease: The version of the last release of your app that used the old library.
    ///   - defaults: Where the keys are stored. Both libraries always use ``Defaults/standard``. In a
    ///     rehearsal, use ``Defaults/file(at:)``.
    ///   - resolve: Returns the version of the data for a stored text that isn't a version, such as
    ///     `"3.0b2"`, or that is above `lastRelease`. A beta that was never released may have stored such a
    ///     text. If you don't know the text, return `nil`. Then reading throws `unknownVersion`.
    /// - Throws: `MigrationError` with the code `invalidVersion`, if `lastRelease` isn't a version.
    public init(
        of library: Library,
        lastRelease: String,
        in defaults: Defaults = .standard,
        resolvingVersion resolve: @escaping @Sendable (_ text: String) throws -> String? = { _ in nil }
    ) throws(MigrationError) {
        self.library = library
        self.lastRelease = try AppVersion(parsing: lastRelease)
        self.defaults = defaults
        self.resolve = resolve
    }

    /// The version up to which the old library has migrated; `nil` if it recorded none.
    ///
    /// MTMigration may have recorded only the version of the app. In this case, it is also `nil`.
    ///
    /// The keys are read again at each call. MFMigrationManager 1.0 stores two versions: that of the release
    /// that was installed first, and that of the last migration. The higher one is used, as in
    /// MFMigrationManager.
    ///
    /// - Throws: ``LegacyDefaultsError`` with the code `unexpectedValue`, `unknownVersion` or `unreadable`,
    ///   and the errors of `resolvingVersion:`.
    public var lastRunVersion: AppVersion? {
        get throws {
            let values = try defaults.values(forKeys: library.versionKeys)
            return try library.versionKeys.compactMap { key in
                try values[key].map { try version(of: $0, forKey: key) }
            }.max()
        }
    }

    /// The value to pass as `firstRun:` of the new `MigrationManager`.
    ///
    /// The `MigrationManager` evaluates it only if it has no state yet.
    ///
    /// - Parameters:
    ///   - isUnlocked: Pass false if the device possibly hasn't been unlocked since it was switched on.
    ///     Until it is unlocked, the user defaults look empty, and existing data would be treated as a fresh
    ///     install.
    ///   - withoutKeys: The value to use if the old library recorded nothing. It is evaluated only in that
    ///     case. Look for the app's data in this expression, for two reasons. Earlier releases of your app
    ///     may have written data without the old library. And if Foundation reads the preferences (on Apple's
    ///     systems, and from a suite), a damaged or empty file looks as if nothing was recorded.
    /// - Returns: One of these:
    ///   - `existingData(at:)` with the version that the old library recorded, so that everything after it
    ///     runs.
    ///   - `everything`, if MTMigration recorded only the version of the app. Then none of its migrations has
    ///     ever succeeded, and MTMigration would run all of them.
    ///   - `withoutKeys`, if nothing was recorded.
    /// - Throws: `MigrationGate.RequiresUnlock` if `isUnlocked` is false. The errors of ``lastRunVersion``
    ///   and of `withoutKeys`.
    public func firstRun(
        isUnlocked: Bool,
        withoutKeys: @autoclosure () throws -> MigrationManager.FirstRun = .freshInstall
    ) throws -> MigrationManager.FirstRun {
        guard isUnlocked else { throw MigrationGate.RequiresUnlock() }
        if let version = try lastRunVersion { return .existingData(at: version.description) }
        if try !defaults.values(forKeys: library.launchKeys).isEmpty { return .everything }
        return try withoutKeys()
    }

    /// Sets the old library's version, so that migrations after it can run again.
    ///
    /// Call this before you call `reset(to:)` of the `MigrationManager`. Otherwise the migrations after
    /// `version` would be recorded without running, because the keys say that an older release has run them.
    /// `MigrationManager.forgetState` leaves the keys as they are, too.
    ///
    /// - Throws: `MigrationError` with the code `invalidVersion`. ``LegacyDefaultsError`` with the code
    ///   `unreadable` or `notSaved`.
    public func reset(to version: String) throws {
        // MFMigrationManager 1.0 uses the higher one of two keys, so both are set.
        try save(AppVersion(parsing: version), alsoForKeys: Array(library.versionKeys.dropFirst()))
    }

    /// Saves the old library's version, also for those of `others` that exist.
    private func save(_ version: AppVersion, alsoForKeys others: [String]) throws {
        let existing = try defaults.values(forKeys: others)
        let keys = [library.lastRunKey] + others.filter { existing[$0] != nil }
        try defaults.set(version.description, forKeys: keys)
    }

    /// The version of the data for the value of a key.
    private func version(of value: Any, forKey key: String) throws -> AppVersion {
        guard let text = value as? String else {
            throw LegacyDefaultsError.unexpectedValue(value, ofKey: key, in: defaults)
        }
        if let version = AppVersion(text), !version.exceeds(lastRelease) { return version }
        guard let resolved = try resolve(text) else {
            throw LegacyDefaultsError.unknownVersion(text, ofKey: key, in: defaults, lastRelease: lastRelease)
        }
        guard let version = AppVersion(resolved) else {
            throw LegacyDefaultsError.invalidResolution(resolved, of: text, ofKey: key, in: defaults)
        }
        return version
    }
}

// For `whenMigrating(toVersion:unlessRunBy:)`.
extension LegacyManager {
    /// Sets the old library's version to `version`, if `oldVersion` is lower or `nil`, and if `hasRun`
    /// returns true.
    ///
    /// `oldVersion` is the old library's version, which the caller has just read. Nothing is done for a
    /// `version` above `lastRelease`, because no old release knows it.
    func raiseOldVersion(
        from oldVersion: AppVersion?,
        to version: AppVersion,
        if hasRun: () throws -> Bool = { true }
    ) throws {
        if version.exceeds(lastRelease) { return }
        if let oldVersion, oldVersion >= version { return }
        guard try hasRun() else { return }
        // The keys of early versions of the library are written only if such a version was used. The key of
        // the first installed release stays as it is, because the higher key counts.
        try save(version, alsoForKeys: library.otherLastRunKeys)
    }
}
