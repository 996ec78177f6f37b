import AppMigrations
import Foundation
import TestSupport
import Testing

/// The error of a declaration that replaces `closed/Notes`, where this process, which is nobody's, can't change a name in `closed`.
func errorOfReplacingInClosedFolder(of scratch: TemporaryDirectory) throws -> MigrationError {
    try scratch.becomeNobody()
    try scratch.setMode(0o500, of: "closed")
    defer { chmod(scratch.file("closed"), 0o700) }
    return try #require(throws: MigrationError.self) {
        try scratch.manager(upgradingTo: "2.0").whenMigrating(
            toVersion: "2.0",
            replacing: scratch.file("closed/Notes")
        ) { _, _ in Issue.record("ran") }
    }
}
