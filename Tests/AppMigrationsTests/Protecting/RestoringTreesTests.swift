import AppMigrations
import Foundation
import Testing

/// Trees are put back whatever rights the closure left them.
///
/// As another user, since root may write into every folder.
@Suite(.watchdog) struct RestoringTreesTests {
    @Test func `folders without rights come back with theirs, and those that the closure shut go`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "closed/inner/data")
            try scratch.write("old", to: "shut/data")
            try scratch.write("old", to: "deep/inner/data")
            try scratch.becomeNobody()
            try scratch.setMode(0o555, of: "closed/inner")
            try scratch.setMode(0o555, of: "closed")
            let before = try ["closed", "closed/inner", "shut", "deep", "deep/inner"].map(scratch.attributes)
            let options = MigrationManager.Options {
                if $0.kind == .leftoverNotRemoved { Issue.record("\($0.error?.description ?? "")") }
            }
            let paths = ["closed", "shut", "deep"].map(scratch.file)
            try scratch.expectPutBack(protecting: paths, options: options) {
                try append("new", to: scratch.file("closed/inner/data"))
                try scratch.setMode(0, of: "shut/data")
                try scratch.setMode(0, of: "shut")
                try scratch.setMode(0o100, of: "deep/inner")
                try scratch.makeFolder("deep/made/inner")
                for name in ["deep/made/inner", "deep/made"] { try scratch.setMode(0, of: name) }
            }
            #expect(
                try ["closed", "closed/inner", "shut", "deep", "deep/inner"].map(scratch.attributes) == before
            )
            for name in ["closed/inner/data", "shut/data", "deep/inner/data"] {
                #expect(try scratch.read(name) == "old")
            }
            #expect(try scratch.names("deep") == ["inner"])
        }
    }

    @Test func `a file whose folder above was shut is put back once that folder is open again`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            let path = try scratch.write("old", to: "above/data")
            try scratch.becomeNobody()
            let error = try scratch.fail(protecting: [path]) {
                try scratch.write("new", to: "above/data")
                try scratch.setMode(0o500, of: "above")
            }
            #expect(error.code == .protectionFailed)
            #expect(try error.path == scratch.resolved("above/data"))
            #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
            #expect(try scratch.read("above/data") == "new")
            try scratch.setMode(0o700, of: "above")
            _ = try scratch.manager(upgradingTo: "1.1")
            #expect(try scratch.read("above/data") == "old")
            try scratch.expectNoCopies()
        }
    }

    /// The restore would fail at every start: without the right to read, a folder can't be synced.
    @Test(arguments: [(0o500, "data"), (0o300, "data"), (0o300, "folder")])
    func `what is in a folder that this user can't read and write to is refused before anything runs`(
        mode: mode_t,
        name: String
    ) async {
        await #expect(processExitsWith: .success) { [mode = mode as mode_t, name = name as String] in
            let scratch = try TemporaryDirectory()
            for file in ["data", "folder/file"] { try scratch.write("old", to: "above/" + file) }
            try scratch.becomeNobody()
            let above = try scratch.resolved("above")
            try scratch.setMode(mode, of: "above")
            let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: above + "/" + name)
            let reason = "this user can't both read \(above) and write to it"
            #expect(error.description.contains(reason), "\(error)")
            try scratch.expectNoCopies()
        }
    }
}
