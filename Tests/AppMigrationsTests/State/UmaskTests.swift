import AppMigrations
import Foundation
import Testing

/// Another thread may set a strange umask for a moment, as is done around the `bind` of a socket.
@Suite(.temporaryDirectory) struct UmaskTests {
    /// As another user, since root may use what has no rights.
    @Test(arguments: [0o177, 0o277, 0o377, 0o777])
    func `folders and files that are made under it have their rights all the same`(mask: mode_t) async {
        await #expect(processExitsWith: .success) { [mask = mask as mode_t] in
            let scratch = try TemporaryDirectory()
            try scratch.becomeNobody()
            umask(mask)
            let state = scratch.file("deep/state")
            try library("1.1", in: state).whenMigrating(toVersion: "1.1") {}
            umask(0o022)
            #expect(try ["deep", "deep/state"].map(scratch.mode) == [0o700, 0o700])
            for name in ["json", "lock"] {
                #expect(try scratch.mode("deep/state/Library.migrations." + name) == 0o600)
            }
            #expect(try library("1.1", in: state).lastRunVersion.description == "1.1")
        }
    }
}
