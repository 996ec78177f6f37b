public import AppMigrations

/// What a manager of MFMigrationManager, or MTMigration, has recorded in the user defaults.
///
/// Both libraries save the version up to which they have migrated in the app's user defaults. This value
/// reads it, so that a `MigrationManager` can continue from there. It also keeps it up to date, for users who
/// go back to an older release of the app.
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
/// Continue each manager of the old library with exactly one `MigrationManager`. If two of them shared one
/// key, each would take the other's migrations for migrations of an older release.
public struct LegacyManager: Sendable {
    /// The library that the old releases used, with the name of its manager.
    public let library: Library

    /// The version of the last release that used the old library.
    public let lastRelease: AppVersion

    let defaults: Defaults
    private let resolve: @Sendable (_ text: String) throws -> String?

    /// Describes what the old library recorded; nothing is read yet.
    ///
    /// - Parameters:
    ///   - library: The old library, with the name of its manager.
    ///   - lastRelease: The version of the last release of your app that used the old library.
    ///   - defaults: Where the keys are. Both libraries always use ``Defaults/standard``. A rehearsal uses a
    ///     file.
    ///   - resolve: Returns the version whose data a text stands for. It is called with each text that isn't
    ///     a version, such as `"3.0b2"`, and with each version above `lastRelease`. Both come from a beta
    ///     that was never released. `nil` means that the text is unknown, and reading throws
    ///     `unknownVersion`.
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

    /// The version up to which the old library has migrated; `nil` if it never ran here.
    ///
    /// The keys are read again at each call. MFMigrationManager 1.0 has two: the version of the release that
    /// was installed first, and the last migration. The higher one counts, as it did there.
    ///
    /// - Throws: ``LegacyDefaultsError`` with the code `unexpectedValue`, `unknownVersion` or `unreadable`,
    ///   and the errors of `resolvingVersion:`.
    public var lastRunVersion: AppVersion? {
        get throws { try library.versionKeys.compactMap(version(forKey:)).max() }
    }

    /// The answer to `firstRun:` of the manager that continues.
    ///
    /// It is evaluated only if that manager has no state yet.
    ///
    /// - Parameters:
    ///   - isUnlocked: False if the device may not have been unlocked since it was switched on. Then the user
    ///     defaults look empty, and an old phone would count as a new one.
    ///   - withoutKeys: The answer if the old library never ran here. If your app had released data before it
    ///     used the old library, look for that data here. It is evaluated only then.
    /// - Returns: `existingData(at:)` with the version that the old library recorded, so that everything
    ///   after it runs. If MTMigration recorded only the version of the app, none of its migrations has ever
    ///   succeeded. Then it is `everything`, which is what MTMigration would run. Otherwise `withoutKeys`.
    /// - Throws: `MigrationGate.RequiresUnlock` if `isUnlocked` is false. The errors of ``lastRunVersion``
    ///   and of `withoutKeys`.
    public func firstRun(
        isUnlocked: Bool,
        withoutKeys: @autoclosure () throws -> MigrationManager.FirstRun = .freshInstall
    ) throws -> MigrationManager.FirstRun {
        guard isUnlocked else { throw MigrationGate.RequiresUnlock() }
        if let version = try lastRunVersion { return .existingData(at: version.description) }
        for key in library.launchKeys where try defaults.value(forKey: key) != nil { return .everything }
        return try withoutKeys()
    }

    /// Sets the old library's version, so that migrations after it can run again.
    ///
    /// Call it before the `reset(to:)` of the manager that continues. Otherwise the migrations after
    /// `version` would be recorded without running, because the keys say that an older release has run them.
    ///
    /// - Throws: `MigrationError` with the code `invalidVersion`. ``LegacyDefaultsError`` with the code
    ///   `unreadable` or `notSaved`.
    public func reset(to version: String) throws {
        let version = try AppVersion(parsing: version)
        let others = try library.versionKeys.dropFirst().filter { try defaults.value(forKey: $0) != nil }
        for key in [library.lastRunKey] + others { try defaults.set(version.description, forKey: key) }
    }

    private func version(forKey key: String) throws -> AppVersion? {
        guard let text = try text(forKey: key) else { return nil }
        if let version = AppVersion(text), !version.exceeds(lastRelease) { return version }
        guard let resolved = try resolve(text) else {
            throw LegacyDefaultsError.unknownVersion(text, ofKey: key, in: defaults, lastRelease: lastRelease)
        }
        guard let version = AppVersion(resolved) else {
            throw LegacyDefaultsError.invalidResolution(resolved, of: text, ofKey: key, in: defaults)
        }
        return version
    }

    private func text(forKey key: String) throws -> String? {
        guard let value = try defaults.value(forKey: key) else { return nil }
        guard let text = value as? String else {
            throw LegacyDefaultsError.unexpectedValue(value, ofKey: key, in: defaults)
        }
        return text
    }
}

// What a declaration asks and leaves.
extension LegacyManager {
    /// True if an older release has run the migration, so that the closure mustn't run.
    ///
    /// If the process of an earlier attempt died, its protected files were restored after that. An older
    /// release may have run the migration before that restore, which has undone its work. So the migration
    /// has to run again, whatever the key says.
    func hasRun(_ context: MigrationContext, isProtecting: Bool) throws -> Bool {
        if isProtecting, context.followsCrash { return false }
        return try lastRunVersion.map { context.version <= $0 } ?? false
    }

    /// Raises the old library's version to `version`, if it is lower.
    ///
    /// Versions above the last release are left out: an older release doesn't have them.
    func leave(_ version: AppVersion) throws {
        if version.exceeds(lastRelease) { return }
        if let left = try lastRunVersion, left >= version { return }
        // The keys of early versions of the library are written only if such a version was used.
        let others = try library.otherLastRunKeys.filter { try defaults.value(forKey: $0) != nil }
        for key in [library.lastRunKey] + others { try defaults.set(version.description, forKey: key) }
    }
}
