import AppMigrations
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

@Suite(.temporaryDirectory) struct VersionTests {
    let folder = TemporaryDirectory.current.path

    private func rehearse(_ versions: [String], recordingIn file: String? = nil) throws -> RehearsalReport {
        try Rehearsal(currentVersion: "2.0", from: [list()], recordingVersionsIn: file).run { migrations, _ in
            for version in versions { try migrations.whenMigrating(toVersion: version) {} }
        }
    }

    @Test(
        arguments: [
            (
                ["1.1", "1.1.0"], RehearsalFinding.Kind.declaredTwice,
                "Migration 1.1.0 is the same version as 1.1, which is also declared. "
                    + "Every start of the app would fail at this declaration. Declare each version once."
            ),
            (
                ["1.1", "1.1"], .declaredTwice,
                "Migration 1.1 is declared twice. Every start of the app would fail at this declaration. "
                    + "Declare each version once."
            ),
            (
                ["1.2", "1.1"], .outOfOrder,
                "Migration 1.1 is declared after 1.2. Every start of the app would fail at this declaration. "
                    + "Declare the versions in ascending order."
            ),
            (
                ["1.1", "2.1"], .newerThanCurrentVersion,
                "Migration 2.1 is newer than the app (2.0). Every start of the app would fail at this declaration. "
                    + "Raise the app's version or remove the migration."
            ),
            (
                ["1.1", "v2"], .invalidVersion,
                #"The version "v2" can't be read: a digit is missing at character 1. It is declared in manager "default" "#
                    + "(<state>/default.migrations.json). The migration was not run. A version consists of numbers separated by dots, "
                    + "then at most one hyphen and sub-number: 2, 1.4, 1.1-2. A beta has the version of its release; what changes "
                    + "between two betas is 2.0-1, 2.0-2."
            ),
        ]
    )
    func `declarations that no manager takes are found before anything runs`(
        versions: [String],
        kind: RehearsalFinding.Kind,
        text: String
    ) throws {
        let report = try rehearse(versions)
        #expect(report.findings.map(\.kind) == [kind])
        #expect(report.texts == [text])
        #expect(report.runs.isEmpty)
    }

    @Test func `the record gets what is new, and keeps its comments`() throws {
        let file = path("versions.txt", in: folder)
        #expect(try rehearse(["1.1"], recordingIn: file).isClean)
        #expect(try read("versions.txt", in: folder) == "1.1\n")
        try write("# all released\n1.1", to: "versions.txt", in: folder)
        #expect(try rehearse(["1.1", "1.1-1", "2.0"], recordingIn: file).isClean)
        #expect(try read("versions.txt", in: folder) == "# all released\n1.1\n1.1-1\n2.0\n")
    }

    @Test(arguments: [("1.0", false), ("1.1", true), ("1.2", true)])
    func `a version that is gone is covered by an upgradesFrom from it on`(oldest: String, isCovered: Bool)
        throws
    {
        let file = path("versions.txt", in: folder)
        try write("1.1\n1.2\n", to: "versions.txt", in: folder)
        let report = try Rehearsal(
            currentVersion: "2.0",
            upgradesFrom: oldest,
            from: [list("1.0\n1.1\n1.2\n", at: "1.2")],
            recordingVersionsIn: file
        ).run { try declare(["1.2", "2.0"], $0, in: $1) }
        #expect(report.findings.map(\.kind) == (isCovered ? [] : [.disappeared]))
    }

    @Test func `a starting point below upgradesFrom is found, and older releases upgraded from older data`()
        throws
    {
        let points = [list(), list("1.0\n1.1\n", at: "1.1")]
        let report = try Rehearsal(currentVersion: "2.0", upgradesFrom: "1.1", from: points + [.everything])
            .run {
                migrations,
                folder in
                for version in ["1.1", "2.0"] {
                    try migrations.whenMigrating(toVersion: version) {
                        if !exists("list.txt", in: folder) { try write("1.0\n", to: "list.txt", in: folder) }
                        try addLine(version, in: folder)
                    }
                }
            }
        #expect(report.findings.map(\.kind) == [.failed])
        #expect(report.texts.first?.contains("only upgrades data from version 1.1 on") == true)
    }

    @Test func `a version that was declared before and is gone is found, and the record stays`() throws {
        let file = path("versions.txt", in: folder)
        try write("1.1\n1.2\n", to: "versions.txt", in: folder)
        let report = try rehearse(["1.2", "2.0"], recordingIn: file)
        #expect(
            report.texts == [
                "Migration 1.1 was declared in an earlier rehearsal and is missing now. Users with older data would "
                    + "skip it. Restore it, or pass 1.1 or a later version as upgradesFrom:. If it was never released, "
                    + "delete its line in \(file) instead."
            ]
        )
        #expect(report.findings.map(\.kind) == [.disappeared])
        #expect(try read("versions.txt", in: folder) == "1.1\n1.2\n")
    }

    @Test func `a version that comes too late is found`() throws {
        try write("1.1\n1.4\n", to: "versions.txt", in: folder)
        let file = path("versions.txt", in: folder)
        let report = try rehearse(["1.1", "1.3", "1.4"], recordingIn: file)
        #expect(
            report.texts == [
                "Migration 1.3 is new, but lower than 1.4, which an earlier rehearsal recorded. Users who have 1.4 "
                    + "will never run it. Give it a version above 1.4, or declare it with addedIn: and the first "
                    + "release that has it. If 1.4 was never released, delete its line in \(file) instead."
            ]
        )
        #expect(report.findings.map(\.kind) == [.missed])
    }

    @Test func `a version that is declared with addedIn is none that comes too late`() throws {
        try write("1.1\n1.4\n", to: "versions.txt", in: folder)
        let file = path("versions.txt", in: folder)
        let report = try Rehearsal(currentVersion: "2.0", from: [list()], recordingVersionsIn: file).run {
            try declare(["1.1"], $0, in: $1)
            let folder = $1
            try $0.whenMigrating(toVersion: "1.3", addedIn: "2.0") { try addLine("1.3", in: folder) }
            try declare(["1.4"], $0, in: $1)
        }
        // It ran before 1.4 in one jump, and after it where it was added: step by step, since no release of the
        // main line before 2.0 has it, and where only it was missing.
        #expect(report.findings.map(\.kind) == [.stepsDiffer, .stepsDiffer])
        #expect(
            report.texts.contains {
                $0.hasSuffix(
                    "Migration 1.3 is declared with addedIn:. It must also work on data that later migrations have already "
                        + "changed."
                )
            }
        )
        #expect(
            report.runs.contains {
                $0.title == "1.3 added after later migrations had run" && $0.ran == ["1.1", "1.4", "1.3"]
            }
        )
        #expect(try read("versions.txt", in: folder) == "1.1\n1.4\n1.3\n")
    }

    @Test func `a record that can't be read ends the rehearsal`() throws {
        try write("one\n", to: "versions.txt", in: folder)
        let file = path("versions.txt", in: folder)
        #expect(throws: MigrationError.self) { try rehearse(["1.1"], recordingIn: file) }
    }

    @Test func `declarations that rely on what ran before are listed by the first jump`() throws {
        struct TooOld: Error {}
        let file = path("versions.txt", in: folder)
        let rehearsal = Rehearsal(currentVersion: "1.2", from: [list()], recordingVersionsIn: file)
        let report = try rehearsal.run { migrations, folder in
            try migrations.whenMigrating(toVersion: "1.1") { try addLine("1.1", in: folder) }
            guard try read("list.txt", in: folder).contains("1.1") else { throw TooOld() }
            try migrations.whenMigrating(toVersion: "1.2") { try addLine("1.2", in: folder) }
        }
        #expect(report.declaredVersions.map(\.description) == ["1.1", "1.2"])
        #expect(try read("versions.txt", in: folder) == "1.1\n1.2\n")
    }

    @Test func `declarations are listed to the end also where they make a plan first`() throws {
        struct TooOld: Error {}
        let report = try Rehearsal(currentVersion: "1.3", from: [list(at: "1.1")]).run { migrations, folder in
            func declare(_ migrations: MigrationManager) throws {
                try migrations.whenMigrating(toVersion: "1.1") {}
                try migrations.whenMigrating(toVersion: "1.2") { try addLine("1.2", in: folder) }
            }
            #expect(try migrations.plan(declare).count == 2)
            try declare(migrations)
            guard try read("list.txt", in: folder).contains("1.2") else { throw TooOld() }
            try migrations.whenMigrating(toVersion: "1.3") { try addLine("1.3", in: folder) }
        }
        #expect(report.isClean, "\(report)")
        #expect(report.declaredVersions.map(\.description) == ["1.1", "1.2", "1.3"])
    }

    @Test func `versions without a starting point before them are named`() throws {
        let report = try Rehearsal(currentVersion: "2.0", from: [list(at: "1.1")]).run { migrations, _ in
            for version in ["1.1", "2.0"] { try migrations.whenMigrating(toVersion: version) {} }
        }
        #expect(report.isClean)
        #expect(report.unrehearsedVersions.map(\.description) == ["1.1"])
        #expect(report.description.hasSuffix("\nNot rehearsed, because no starting point is older: 1.1"))
    }
}
