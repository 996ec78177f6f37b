import AppMigrations
import AppMigrationsTesting
import Foundation
import Testing

/// Closures that work on a copy.
struct ReplacingTests {
    /// Rehearses a migration that replaces `list.txt`, or the folder `lists`, which has the same file.
    private func rehearse(
        replacing name: String,
        _ migration: (_ original: String, _ copy: String) throws -> Void
    ) throws -> RehearsalReport {
        let point = StartingPoint.version("1.0") { folder in
            try write("1.0\n", to: "list.txt", in: folder)
            let lists = path("lists", in: folder)
            try FileManager.default.createDirectory(atPath: lists, withIntermediateDirectories: false)
            try write("1.0\n", to: "list.txt", in: lists)
        }
        return try Rehearsal(currentVersion: "1.1", from: [point]).run { migrations, folder in
            let original = path(name, in: folder)
            try migrations.whenMigrating(toVersion: "1.1", replacing: original) { copy, _ in
                try migration(original, copy)
            }
        }
    }

    private func overwrite(_ path: String, with text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test func `a closure that changes only its copy is clean`() throws {
        try rehearse(replacing: "list.txt") { _, copy in try overwrite(copy, with: "1.1\n") }.requireClean()
        try rehearse(replacing: "lists") { _, copy in try overwrite(copy + "/list.txt", with: "1.1\n") }
            .requireClean()
        try rehearse(replacing: "new.txt") { _, copy in try overwrite(copy, with: "1.1\n") }.requireClean()
    }

    @Test(arguments: [
        ("list.txt", "", "`list.txt` itself, and not only its copy: its content differs"),
        (
            "lists", "/list.txt",
            #"`lists` itself, and not only its copy: line 1 of `list.txt` is "1.1" instead of "1.0""#
        ),
        ("new.txt", "", "`new.txt` itself, and not only its copy: it exists, but shouldn't"),
    ])
    func `a closure that changes the original is found, though it leaves the same copy`(
        name: String,
        below: String,
        change: String
    ) throws {
        let report = try rehearse(replacing: name) { original, copy in
            try overwrite(original + below, with: "1.1\n")
            try overwrite(copy + below, with: "1.1\n")
        }
        let finding = try #require(report.findings.first)
        #expect(finding.kind == .originalChanged)
        #expect(finding.version == "1.1")
        #expect(finding.path == name)
        #expect(
            finding.description
                == "From 1.0 to 1.1, in one jump: migration 1.1 changed \(change). In the closure, use the path that it gets."
        )
    }

    @Test func `an original that is removed or becomes another kind is found`() throws {
        let missing = try rehearse(replacing: "list.txt") { original, _ in
            try FileManager.default.removeItem(atPath: original)
        }
        #expect(missing.texts.first?.contains("not only its copy: it is missing.") == true)
        let changed = try rehearse(replacing: "list.txt") { original, _ in
            try FileManager.default.removeItem(atPath: original)
            try FileManager.default.createDirectory(atPath: original, withIntermediateDirectories: false)
        }
        #expect(changed.texts.first?.contains("not only its copy: it is a folder instead of a file.") == true)
    }
}
