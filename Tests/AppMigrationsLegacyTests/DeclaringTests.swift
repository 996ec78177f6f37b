import Foundation
import TestSupport
import Testing

@testable import AppMigrations
@testable import AppMigrationsLegacy

/// What a declaration runs, and what it leaves for users who go back to an older release.
@Suite(.temporaryDirectory) struct DeclaringTests {
    let scratch = TemporaryDirectory.current

    @Test func `the key follows each migration after its record`() throws {
        try scratch.writeKeys([lastKey: "2.0"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        var seen: [String?] = []
        for version in ["2.0", "3.0", "3.1-1"] {
            let ran = try manager.whenMigrating(toVersion: version, unlessRunBy: old) {
                seen.append(try scratch.keys[lastKey])
            }
            #expect(ran == (version != "2.0"))
            #expect(try scratch.keys == [lastKey: version])
        }
        #expect(seen == ["2.0", "3.0"])
    }

    @Test func `new phones get the key too, and nothing runs`() throws {
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        #expect(try !manager.whenMigrating(toVersion: "3.1-1", unlessRunBy: old) { throw Failure() })
        #expect(try scratch.keys == [lastKey: "3.1-1"])
        // At a later start it isn't taken for an old phone's: the state is asked.
        #expect(try scratch.manager(old).launch == .same)
    }

    @Test func `a key that a death kept from being written is written by the next start`() throws {
        let old = try scratch.old()
        try scratch.manager(old, firstRun: .existingData(at: "3.0")).whenMigrating(toVersion: "3.1") {}
        #expect(try scratch.keys == [:])
        try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() }
        #expect(try scratch.keys == [lastKey: "3.1"])
    }

    /// It can take seconds to remove a large folder.
    ///
    /// If the process is killed meanwhile, an older release reads the key.
    @Test func `the key follows the record before the original is removed`() throws {
        try scratch.writeKeys([lastKey: "3.0b2"])
        try scratch.makeFolder("Notes")
        try scratch.write("old", to: "Notes/1")
        let log = Log()
        let old = try scratch.old { [scratch] _ in
            // The old library's version is read before the closure and after the record. Then the key is raised.
            let original = scratch.exists(".Notes@Library.migrating/old/Notes/1")
            let record = try scratch.manager().lastRunVersion
            log.add("\(record), original \(original ? "there" : "not moved")")
            return "3.0"
        }
        let manager = try scratch.manager(old, firstRun: .existingData(at: "3.0"))
        let path = scratch.file("Notes")
        try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old, replacing: path) { copy, context in
            try Data("new".utf8).write(to: URL(filePath: copy + "/1"))
            #expect(context.version.description == "3.1")
        }
        #expect(log.lines == ["3.0, original not moved", "3.1, original there"])
        #expect(try scratch.keys == [lastKey: "3.1"])
        #expect(try scratch.read("Notes/1") == "new")
        #expect(!scratch.exists(".Notes@Library.migrating"))
    }

    @MainActor @Test func `a file is replaced on the caller's actor, but not twice`() async throws {
        try scratch.writeKeys([lastKey: "3.0"])
        try scratch.write("old", to: "notes")
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        let path = scratch.file("notes")
        let versions = ["3.1", "3.2"]
        for version in versions {
            if version == "3.2" { try scratch.writeKeys([lastKey: "3.2"]) }
            let ran = try await manager.whenMigrating(toVersion: version, unlessRunBy: old, replacing: path) {
                copy,
                context in
                await Task.yield()
                MainActor.assertIsolated()
                try Data("\(context.version)".utf8).write(to: URL(filePath: copy))
            }
            #expect(ran == (version == "3.1"))
        }
        #expect(try scratch.read("notes") == "3.1")
        #expect(try scratch.keys == [lastKey: "3.2"])
    }

    @Test func `what an older release has run is recorded without running`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old()
        // The user goes back after a failure, and the older release runs it.
        #expect(throws: MigrationError.self) {
            try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() }
        }
        try scratch.writeKeys([lastKey: "3.1"])
        let manager = try scratch.manager(old)
        #expect(try !manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() })
        #expect(manager.lastRunVersion.description == "3.1")
        #expect(try manager.whenMigrating(toVersion: "3.1-1", unlessRunBy: old) {})
        #expect(try scratch.keys == [lastKey: "3.1-1"])
    }

    @Test func `a closure that throws leaves no key, and runs again`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old()
        for attempt in 1...2 {
            let manager = try scratch.manager(old)
            do {
                try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) {
                    if attempt == 1 { throw Failure() }
                }
            } catch {
                #expect((error as? MigrationError)?.code == .migrationFailed)
            }
            #expect(try scratch.keys == [lastKey: attempt == 1 ? "3.0" : "3.1"])
        }
    }

    /// An attempt whose process dies would count as one that may have changed the data.
    @Test func `what an older release has run is recorded without an attempt`() throws {
        try scratch.writeKeys([lastKey: "3.1"])
        let log = Log()
        let old = try scratch.old()
        let manager = try scratch.manager(old, firstRun: .existingData(at: "3.0"), options: options(log))
        try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old, minimumAppVersion: "3.1") {
            throw Failure()
        }
        #expect(log.lines == ["Library finished 3.1, recorded without running: the old library has run it"])
        let status = try manager.status
        #expect(status.minimumAppVersion?.description == "3.1")
        #expect(status.history.map(\.version.description) == ["3.1"])
        #expect(status.latestAttempt == nil)
    }

    /// The old library's version is asked inside of the declaration, which holds the lock.
    @Test func `reading the keys can't call the same manager`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let other = try scratch.old()
        let manager = try scratch.manager(other)
        try scratch.writeKeys([lastKey: "beta"])
        let inner = try scratch.manager(other)
        let old = try scratch.old { _ in
            try inner.whenMigrating(toVersion: "3.0-1") {}
            return nil
        }
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { Issue.record("It ran.") }
        }
        #expect((error.underlyingError as? MigrationError)?.code == .nested)
    }

    private static func die(_ path: String) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let scratch = TemporaryDirectory(path: path)
            let old = try scratch.old()
            try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {
                try scratch.write("half", to: "notes")
                kill(getpid(), SIGKILL)
            }
        }
    }

    @Test func `what an older release did after a crash stays, and isn't repeated`() async throws {
        try scratch.writeKeys([lastKey: "3.0"])
        await Self.die(scratch.path)
        #expect(try scratch.keys == [lastKey: "3.0"])
        // The older release migrates what the dead process left.
        try scratch.write("new by the older release", to: "notes")
        try scratch.writeKeys([lastKey: "3.1"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        #expect(try !manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() })
        #expect(try manager.status.latestAttempt == nil)
        #expect(try scratch.read("notes") == "new by the older release")
    }

    /// The gate plans before it declares, and the plan doesn't ask the keys.
    @Test func `a gate at the limit of attempts records what an older release has run`() async throws {
        try scratch.writeKeys([lastKey: "3.0"])
        await Self.die(scratch.path)
        func ready() async throws {
            try await MigrationGate { [scratch] start in
                let old = try scratch.old()
                let options = start.options(.init(attemptLimit: 1))
                let manager = try scratch.manager(old, options: options)
                try start.migrate(manager) { migrations in
                    try migrations.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() }
                }
            }.ready()
        }
        let error = try await #require(throws: MigrationError.self) { try await ready() }
        #expect(error.code == .attemptLimitReached)
        #expect(try scratch.keys == [lastKey: "3.0"])
        try scratch.writeKeys([lastKey: "3.1"])
        try await ready()
        #expect(try scratch.manager().lastRunVersion.description == "3.1")
    }

    @Test func `an event about what is recorded without running finds it recorded`() throws {
        try scratch.writeKeys([lastKey: "3.1"])
        let old = try scratch.old()
        let log = Log()
        let events = Guarded<MigrationManager?>(nil)
        let options = MigrationManager.Options { event in
            let version = events.withLock { $0 }?.lastRunVersion.description ?? ""
            log.add("\(event.kind) \(version) \(event.attempt ?? 0)")
        }
        let manager = try scratch.manager(old, firstRun: .existingData(at: "3.0"), options: options)
        events.withLock { $0 = manager }
        try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() }
        events.withLock { $0 = nil }
        #expect(log.lines == ["finished 3.1 0"])
    }

    @Test func `the bar shows the weight of a migration that is recorded without running`() async throws {
        try scratch.writeKeys([lastKey: "3.1"])
        let log = Log()
        let gate = MigrationGate { [scratch] start in
            let old = try scratch.old()
            let options = MigrationManager.Options { log.add("\($0.kind) \(start.gate.state)") }
            let manager = try scratch.manager(
                old,
                firstRun: .existingData(at: "3.0"),
                options: start.options(options)
            )
            try start.migrate(manager, weights: ["3.1": 3]) { migrations in
                try migrations.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() }
                try migrations.whenMigrating(toVersion: "4.0") {}
            }
        }
        try await gate.ready()
        #expect(log.lines.first == "finished migrating(fraction: 0.75, note: nil)")
    }

    @Test func `an older release finds where the data is even if the first migration fails`() throws {
        let old = try scratch.old()
        // The data is from before the old library.
        let manager = try scratch.manager(old, firstRun: .existingData(at: "1.0"))
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "2.0", unlessRunBy: old) { throw Failure() }
        }
        #expect(try scratch.keys == [lastKey: "1.0"])
    }

    /// A hotfix of the old library adds a migration after the data has moved past its version.
    @Test func `a version that was missed is left out of the keys`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old(lastRelease: "3.5.1")
        try scratch.manager(old).whenMigrating(toVersion: "4.0") {}
        let manager = try scratch.manager(old)
        #expect(try !manager.whenMigrating(toVersion: "3.5.1", unlessRunBy: old) { throw Failure() })
        #expect(try scratch.keys == [lastKey: "3.0"])
    }

    @Test func `a key is never lowered`() throws {
        try scratch.writeKeys([lastKey: "3.5", "other": "kept"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        #expect(try !manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() })
        #expect(try scratch.keys == [lastKey: "3.5", "other": "kept"])
    }

    @Test func `a version that no old release has is left out of the keys`() throws {
        try scratch.writeKeys([lastKey: "3.1"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        #expect(try manager.whenMigrating(toVersion: "3.6", unlessRunBy: old) {})
        #expect(try manager.whenMigrating(toVersion: "4.0", unlessRunBy: old) {})
        #expect(try scratch.keys == [lastKey: "3.1"])
    }

    @Test func `the text of a beta is replaced by what has run`() throws {
        try scratch.writeKeys([lastKey: "3.1b2"])
        let old = try scratch.old { $0 == "3.1b2" ? "3.0" : nil }
        try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
        #expect(try scratch.keys == [lastKey: "3.1"])
    }

    @Test func `the key of an early version is written only where it is`() throws {
        let (key, early) = ("MFMigrationManagerLastVersionKey", "MFMigrationManagerLastVersionKey-(null)")
        let old = try scratch.old(.mfMigrationManager())
        for keys in [[early: "3.0"], [key: "3.0"]] {
            try scratch.writeKeys(keys)
            try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
            #expect(try scratch.keys == (keys[early] == nil ? [key: "3.1"] : [key: "3.1", early: "3.1"]))
        }
    }

    @Test func `MTMigration's key follows, too`() throws {
        try scratch.writeKeys(["MTMigration.lastMigrationVersion": "3.0"])
        let old = try scratch.old(.mtMigration)
        try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
        #expect(try scratch.keys == ["MTMigration.lastMigrationVersion": "3.1"])
    }

    @Test func `a plan and a manager that is read-only leave the keys alone`() throws {
        let old = try scratch.old()
        try scratch.writeKeys([lastKey: "3.0"])
        let manager = try scratch.manager(old)
        _ = try manager.whenMigrating(toVersion: "3.0", unlessRunBy: old) {}
        try scratch.writeKeys([:])
        let rows = try manager.plan { migrations in
            try migrations.whenMigrating(toVersion: "3.0", unlessRunBy: old) {}
            try migrations.whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
        }
        #expect(rows.map(\.kind) == [.baseline, .willRun])
        var options = MigrationManager.Options()
        options.isReadOnly = true
        let reader = try scratch.manager(old, options: options)
        for keys in [[:], [lastKey: "beta"]] {
            try scratch.writeKeys(keys)
            let rows = try reader.plan { migrations in
                try migrations.whenMigrating(toVersion: "3.0", unlessRunBy: old) {}
                try migrations.whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
            }
            #expect(rows.map(\.kind) == [.baseline, .willRun])
            #expect(try scratch.keys == keys)
        }
        try scratch.writeKeys([:])
        try reader.whenMigrating(toVersion: "3.0", unlessRunBy: old) {}
        #expect(try scratch.keys == [:])
    }

    /// Makes options that add each event to `log`, without its duration.
    private func options(_ log: Log) -> MigrationManager.Options {
        .init { event in
            var event = event
            event.duration = nil
            log.add("\(event)")
        }
    }

    @Test(arguments: ["beta", "9.9", 13] as [any Sendable])
    func `a key that can't be read doesn't stop an app that has finished, and is reported once`(
        value: any Sendable
    ) throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let before = try scratch.old()
        try scratch.manager(before).whenMigrating(toVersion: "3.1", unlessRunBy: before) {}
        try scratch.writeKeys([lastKey: value])
        let log = Log()
        let old = try scratch.old()
        let problem = try #require(throws: LegacyDefaultsError.self) { try old.lastRunVersion }
        let manager = try scratch.manager(old, options: options(log))
        for version in ["3.0", "3.1"] {
            #expect(try !manager.whenMigrating(toVersion: version, unlessRunBy: old) { throw Failure() })
        }
        #expect(log.lines == ["Library oldVersionNotRaised 3.0, \(problem)"])
        #expect(try scratch.keys == [lastKey: "\(value)"])
        #expect(try manager.whenMigrating(toVersion: "4.0") {})
        // The next start reports it again.
        let next = try scratch.old()
        try scratch.manager(next, options: options(log)).whenMigrating(toVersion: "3.1", unlessRunBy: next) {}
        #expect(log.lines.last == "Library oldVersionNotRaised 3.1, \(problem)")
    }

    @Test func `a file that can't be read doesn't stop an app that has finished`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let before = try scratch.old()
        try scratch.manager(before).whenMigrating(toVersion: "3.1", unlessRunBy: before) {}
        try scratch.write("", to: "defaults.plist")
        let log = Log()
        let old = try scratch.old()
        let manager = try scratch.manager(old, options: options(log))
        try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { throw Failure() }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("Library oldVersionNotRaised 3.1, The keys in the file ") == true)
        #expect(try scratch.read("defaults.plist") == "")
        // A pending migration needs the keys.
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "3.2", unlessRunBy: old) { Issue.record("It ran.") }
        }
    }

    @Test func `an event says which migrations were recorded without running`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let log = Log()
        let old = try scratch.old()
        // The keys win over what the app says of its data.
        let manager = try scratch.manager(old, firstRun: .existingData(at: "1.0"), options: options(log))
        #expect(try !manager.whenMigrating(toVersion: "3.0", unlessRunBy: old) { throw Failure() })
        #expect(try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) {})
        #expect(
            log.lines == [
                "Library finished 3.0, recorded without running: the old library has run it",
                "Library started 3.1",
                "Library finished 3.1",
            ]
        )
    }

    @Test func `the note of a migration that was recorded without running isn't shown to the user`()
        async throws
    {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old()
        let log = Log()
        let gate = MigrationGate { [scratch] start in
            let options = MigrationManager.Options { log.add("\($0.kind) \(start.gate.state)") }
            let manager = try scratch.manager(
                old,
                firstRun: .existingData(at: "1.0"),
                options: start.options(options)
            )
            try manager.whenMigrating(toVersion: "3.0", unlessRunBy: old) { throw Failure() }
        }
        try await gate.ready()
        #expect(log.lines.map { $0.hasSuffix("note: nil)") } == [true])
    }

    @Test func `a file with keys keeps its permissions, and a link to it stays a link`() throws {
        let file = scratch.file("private.plist")
        try scratch.writeKeys([lastKey: "3.0"])
        try FileManager.default.moveItem(atPath: scratch.file("defaults.plist"), toPath: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let link = scratch.file("defaults.plist")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "private.plist")
        let old = try scratch.old()
        try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
        #expect(try scratch.keys == [lastKey: "3.1"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "private.plist")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(names == ["defaults.plist", "private.plist", "state"])
    }

    @Test func `the folder of a file with keys is created with the first key`() throws {
        let folder = scratch.file("home/.config")
        let old = try LegacyManager(
            of: .mfMigrationManager(named: "Library"),
            lastRelease: "3.5",
            in: .file(at: folder + "/notes.plist")
        )
        let manager = try scratch.manager(old, firstRun: .existingData(at: "3.0"))
        #expect(!scratch.exists("home"))
        try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
        #expect(try old.lastRunVersion?.description == "3.1")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func `a key that can't be saved before the closure is called is no promise`() throws {
        try scratch.makeFolder("keys")
        let file = scratch.file("keys/defaults.plist")
        let old = try LegacyManager(
            of: .mfMigrationManager(named: "Library"),
            lastRelease: "3.5",
            in: .file(at: file)
        )
        let manager = try scratch.manager(old, firstRun: .existingData(at: "3.0"))
        try scratch.remove("keys")
        try scratch.makeLinkToNowhere("keys")
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { Issue.record("It ran.") }
        }
        #expect((error.underlyingError as? LegacyDefaultsError)?.code == .notSaved)
        let end =
            " Check that this process can write the file and its folder, and start the app again. It is not recorded, and "
            + "runs again with the next manager."
        #expect(error.description.hasSuffix(end))
    }

    @Test func `a key that can't be read closes the manager while its migration is pending`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        try scratch.writeKeys([lastKey: "beta"])
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { Issue.record("It ran.") }
        }
        #expect(error.code == .migrationFailed)
        #expect((error.underlyingError as? LegacyDefaultsError)?.code == .unknownVersion)
        let next = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "4.0") { Issue.record("It ran.") }
        }
        #expect(next.code == .managerClosed)
    }

    @Test func `a key that can't be saved is an error, and the migration stays recorded`() throws {
        let file = scratch.file("keys/defaults.plist")
        try scratch.makeFolder("keys")
        let old = try LegacyManager(
            of: .mfMigrationManager(named: "Library"),
            lastRelease: "3.5",
            in: .file(at: file)
        )
        let manager = try scratch.manager(old, firstRun: .existingData(at: "3.0"))
        let error = try #require(throws: LegacyDefaultsError.self) {
            try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) {
                try scratch.remove("keys")
                try scratch.makeLinkToNowhere("keys")
            }
        }
        #expect(error.code == .notSaved)
        #expect(error.key == lastKey)
        let start = "The key \"\(lastKey)\" in the file \(file) could not be saved: "
        #expect(error.description.hasPrefix(start))
        let end =
            " Check that this process can write the file and its folder, and start the app again. The migrations that have "
            + "run are recorded and won't be repeated."
        #expect(error.description.hasSuffix(end))
        #expect(manager.lastRunVersion.description == "3.1")
    }

    @Test func `a full disk asks the user for room`() throws {
        let defaults = scratch.defaults
        let full = LegacyDefaultsError.notSaved(
            lastKey,
            in: defaults,
            reason: "full",
            because: CocoaError(.fileWriteOutOfSpace)
        )
        #expect(MigrationAdvice(after: full) == .makeRoom)
        #expect(full.description.hasSuffix(" Free some space on the device, and start the app again."))
        let denied = LegacyDefaultsError.notSaved(
            lastKey,
            in: defaults,
            reason: "denied",
            because: CocoaError(.fileWriteNoPermission)
        )
        #expect(MigrationAdvice(after: denied) == .makeWritable)
        let unknown = LegacyDefaultsError.notSaved(lastKey, in: .standard, reason: "")
        #if canImport(Darwin)
        #expect(MigrationAdvice(after: unknown) == .makeRoom)
        #else
        #expect(MigrationAdvice(after: unknown) == .sendDetails)
        #endif
        #expect(
            unknown.description.hasSuffix(
                " Check that the disk has free space, and that this process can write its preferences, and start the app again."
            )
        )
        let missing = CocoaError(.fileNoSuchFile)
        let other = LegacyDefaultsError.notSaved(lastKey, in: defaults, reason: "", because: missing)
        #expect(MigrationAdvice(after: other) == .sendDetails)
        #expect(
            MigrationAdvice(after: LegacyDefaultsError.unexpectedValue(13, ofKey: lastKey, in: defaults))
                == .sendDetails
        )
    }

    @Test func `a reset lets migrations run again`() throws {
        try scratch.writeKeys([lastKey: "3.1", initialKey: "3.0"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        try old.reset(to: "2.0")
        try manager.reset(to: "2.0")
        #expect(try scratch.keys == [lastKey: "2.0", initialKey: "2.0"])
        #expect(try manager.whenMigrating(toVersion: "3.0", unlessRunBy: old) {})
    }

    @Test func `a closure gets its context`() throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        let ran = try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) { context in
            try context.saveCheckpoint("half")
            #expect(context.previousVersion.description == "3.0")
        }
        #expect(ran)
    }

    @MainActor @Test func `closures that await run on the caller's actor`() async throws {
        try scratch.writeKeys([lastKey: "3.0"])
        let old = try scratch.old()
        let manager = try scratch.manager(old)
        var ran: [String] = []
        try await manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) {
            await Task.yield()
            MainActor.assertIsolated()
            ran.append("3.1")
        }
        try await manager.whenMigrating(toVersion: "3.2", unlessRunBy: old, minimumAppVersion: "3.2") {
            context in
            await Task.yield()
            ran.append(context.version.description)
        }
        #expect(ran == ["3.1", "3.2"])
        #expect(try scratch.keys == [lastKey: "3.2"])
        try scratch.writeKeys([lastKey: "3.3"])
        let isRun = try await manager.whenMigrating(toVersion: "3.3", unlessRunBy: old) {
            await Task.yield()
            ran.append("3.3")
        }
        #expect(!isRun)
        #expect(ran.count == 2)
    }
}
