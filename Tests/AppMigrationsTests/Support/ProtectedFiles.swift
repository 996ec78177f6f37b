import AppMigrations
import Foundation
import Testing

/// Steps of tests with files that a migration protects.
extension TemporaryDirectory {
    /// Runs a migration that protects a file.
    func migrate(protecting name: String, run: () throws -> Void = {}) throws(MigrationError) {
        try manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1", protecting: [file(name)], run: run)
    }

    /// The error of a migration that makes `change` and throws.
    func fail(
        protecting paths: [String],
        options: MigrationManager.Options = .init(),
        change: () throws -> Void
    ) throws -> MigrationError {
        let manager = try manager(upgradingTo: "1.1", options: options)
        return try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", protecting: paths) {
                try change()
                throw Refusal()
            }
        }
    }

    /// Expects that the files are put back, and their copies gone, after a migration that makes `change` and throws.
    func expectPutBack(
        protecting paths: [String],
        options: MigrationManager.Options = .init(),
        change: () throws -> Void
    ) throws {
        let error = try fail(protecting: paths, options: options, change: change)
        #expect(error.code == .migrationFailed, "\(error)")
        #expect(error.underlyingError is Refusal, "\(error)")
        #expect(
            error.description.hasSuffix(
                "next manager. The protected files are as they were before the migration."
            )
        )
        // Else the next start would look for the copy, which is gone.
        #expect(try read(state.stateFile).contains("\"isProtecting\" : false"))
        try expectNoCopies()
    }

    /// Expects that no copy stays after a migration.
    func expectNoCopies() throws {
        let own = try state.names().filter { $0.hasPrefix("Library") }
        #expect(own == ["Library.migrations.json", "Library.migrations.lock"])
    }

    /// The folder with the copies that were moved aside.
    func kept() throws -> String? {
        try state.names().first { $0.hasPrefix("Library.migrations.kept-") }.map { "state/" + $0 }
    }

    /// Gives the rights of root away, where the tests run as root, and what is in the folder with them.
    func becomeNobody(but names: String...) throws {
        if geteuid() != 0 { return }
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + [""]
        where !names.contains(name) {
            try #require(lchown(file(name), 65_534, 65_534) == 0)
        }
        #if os(Linux)
        try #require(setgroups(0, nil) == 0)
        #endif
        try #require(setgid(65_534) == 0 && setuid(65_534) == 0)
    }

    #if os(Linux)
    /// Makes a file or folder immutable, and returns false if the file system has no such flag.
    ///
    /// Only root may call it.
    func setImmutable(_ name: String, _ flag: Int32 = 0x10) -> Bool {
        let descriptor = open(file(name), O_RDONLY | O_NONBLOCK)
        if descriptor < 0 { return false }
        defer { close(descriptor) }
        var flags: [Int32] = [0, 0]
        // FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of a 64-bit system.
        guard ioctl(descriptor, 0x8008_6601, &flags) == 0 else { return false }
        flags[0] = flag == 0 ? flags[0] & ~0x30 : flags[0] | flag
        return ioctl(descriptor, 0x4008_6602, &flags) == 0
    }
    #endif

    func setMode(_ mode: mode_t, of name: String) throws { try #require(chmod(file(name), mode) == 0) }

    /// Kind, mode, size and modification time, of a link itself.
    func attributes(_ name: String) throws -> String {
        let found = try FileManager.default.attributesOfItem(atPath: file(name))
        let date = try #require(found[.modificationDate] as? Date)
        return "\(found[.type] ?? "") \(found[.posixPermissions] ?? "") \(found[.size] ?? "") "
            + "\(date.timeIntervalSince1970)"
    }
}
