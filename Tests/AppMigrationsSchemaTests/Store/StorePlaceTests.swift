import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// A store by every way to write its path, wherever it lies.
@Suite(.temporaryDirectory) struct StorePlaceTests {
    let folder = TemporaryDirectory.current.path

    struct Place: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The path to give in a folder, and the place of the file in it.
        let path: String
        let file: String
        let links: [String: String]

        init(_ description: String, _ path: String, file: String? = nil, links: [String: String] = [:]) {
            testDescription = description
            self.path = path
            self.file = file ?? path
            self.links = links
        }
    }

    static let places = [
        Place("plain", "inner/store"),
        Place("a link to the file", "link", file: "inner/store", links: ["link": "inner/store"]),
        Place(
            "a link to a link",
            "inner/first",
            file: "other/store",
            links: ["inner/first": "../second", "second": "other/store"]
        ),
        Place("a link to the folder", "link/store", file: "inner/store", links: ["link": "inner"]),
        Place("dots", "inner/../other/./store", file: "other/store"),
        Place("slashes", "inner//store", file: "inner/store"),
        Place("blanks, signs and a line", "inner/a store%20\n'\"?.sqlite"),
        Place("what looks like a URI", "inner/file:store?mode=memory"),
        Place("an accent by itself after the slash", "inner/\u{301}store"),
        Place("letters that Swift takes for others", "inner/e\u{301}\u{E9}"),
        Place("a name like a sidecar's", "inner/store-wal"),
    ]

    static let folders = [NSTemporaryDirectory(), TemporaryDirectory.memory]

    private static func at(_ place: Place, in parent: String, _ body: (SQLiteStore, String) throws -> Void)
        throws
    {
        try withTemporaryDirectory(in: parent) { top in
            for name in ["inner", "other"] { try top.makeFolder(name) }
            for (link, target) in place.links { try top.link(link, to: target) }
            try body(SQLiteStore(path: top.file(place.path)), top.file(place.file))
        }
    }

    @Test(arguments: places, folders)
    func `a store, its backup and what is set aside lie side by side, and the app is told where`(
        place: Place,
        parent: String
    ) throws {
        try Self.at(place, in: parent) { store, file in
            // Before there is one, while it is there, and once it is gone again.
            #expect(try Array(store.files.store.utf8) == Array(file.utf8))
            try store.open { _ in Issue.record("set aside") }.execute(script: Wreck.target)
            #expect(try Array(store.files.store.utf8) == Array(file.utf8))
            let isReplaced = try store.migrateStaged(backupExtension: "bak") {
                try $0.query("CREATE TABLE further(a)")
            }
            #expect(isReplaced)
            #expect(try store.status(target: Wreck.target + "; CREATE TABLE further(a)").text == "same")
            #expect(try SQLiteStore(path: file + ".bak").status(target: Wreck.target).text == "same")

            try write("damage", to: file)
            var aside: SQLiteStore.SetAside?
            try store.open { found in
                aside = found
                try FileManager.default.copyItem(atPath: found.storePath + ".bak", toPath: found.storePath)
            }
            .close()
            #expect(try store.status(target: Wreck.target).text == "same")
            let found = try #require(aside)
            #expect(Array(found.storePath.utf8) == Array(file.utf8))
            #expect(found.path.utf8.starts(with: (file + "-corrupt-").utf8))
            #expect(try Wreck.bytes(found.path) == Data("damage".utf8))
            let names = try FileManager.default.contentsOfDirectory(atPath: Platform.folder(of: file))
            #expect(names.filter { !place.links.keys.contains("inner/" + $0) }.count == 3, "\(names)")
            for link in place.links.keys where store.path.hasSuffix("/" + link) {
                _ = try FileManager.default.destinationOfSymbolicLink(atPath: store.path)
            }
        }
    }

    @Test func `behind a link, a start goes on after a dead one`() throws {
        let link = Place("a link", "link", file: "inner/store", links: ["link": "inner/store"])
        try Self.at(link, in: NSTemporaryDirectory()) { store, file in
            try write("damage", to: file + "-corrupt-20260102T030405Z")
            try write("20260102T030405Z\n", to: file + ".recovering")
            var paths = [String]()
            try store.open { paths.append($0.path) }.close()
            #expect(paths == [file + "-corrupt-20260102T030405Z"])
        }
    }

    @Test func `a relative path is one from where the process is`() throws {
        #expect(try SQLiteStore(path: "no-such-store").files.store.hasPrefix("/"))
        #expect(try Starter("store", "make", "store", "delete", folder: folder).finish().status == 0)
        let lines = try Starter("store", "stage", "store", "bak", folder: folder).finish().lines
        #expect(lines == ["migrating", "replaced"])
        #expect(try contents(of: folder).keys.sorted() == ["store", "store.bak"])
    }

    @Test func `a path that is not UTF-8 is refused before anything is done`() throws {
        let link = folder + "/link"
        let target =
            Array((folder + "/").utf8.map { CChar(bitPattern: $0) }) + [CChar(bitPattern: 0xFF), 0]
        try #require(symlink(target, link) == 0)
        let store = SQLiteStore(path: link)
        #expect(try store.status(target: Wreck.target).text == "unreachable nil")
        for use in [
            { try store.open { _ in Issue.record("set aside") }.close() },
            { try store.migrateStaged { _ in Issue.record("run") } },
            { try store.setAside() },
        ] as [() throws -> Void] {
            let error = try sqlError { try use() }
            #expect(error.code == .unreachable)
            #expect(
                error.description
                    == "\(link): The store could not be found: it leads to a name that is not UTF-8, which a path has to"
                    + " be here. Nothing was changed. This says nothing about the content of the store."
            )
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["link"])
    }

    @Test func `another user's store keeps its owner, and its backup is as private`() throws {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, "delete").finish().status == 0)
        try #require(chmod(folder, 0o777) == 0 && chmod(path, 0o666) == 0)
        let owner = try #require(try Platform.status(path))
        let lines = try Starter("store", "stage-as-nobody", path, "bak").finish().lines
        #expect(lines == ["migrating", "replaced"])
        let store = try #require(try Platform.status(path))
        #expect((store.owner, store.group, store.permissions) == (owner.owner, owner.group, 0o666))
        // The group of the user who made the backup has other people in it than the store's.
        let backup = try #require(try Platform.status(path + ".bak"))
        #expect(backup.permissions == (geteuid() == 0 ? 0o606 : 0o666))
    }

    @Test func `a backup that root makes belongs to the store's owner`() throws {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, "delete").finish().status == 0)
        if geteuid() == 0 { try #require(chown(path, 65_534, 65_534) == 0) }
        try #require(chmod(path, 0o640) == 0)
        #expect(try Starter("store", "stage", path, "bak").finish().status == 0)
        let store = try #require(try Platform.status(path))
        let backup = try #require(try Platform.status(path + ".bak"))
        #expect((backup.owner, backup.group, backup.permissions) == (store.owner, store.group, 0o640))
    }

    @Test func `a lock is no standard stream`() throws {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, "delete").finish().status == 0)
        let lines = try Starter("store", "stage-without-input", path).finish().lines
        #expect(lines == ["migrating", "replaced"])
    }

    @Test func `a path of a connection is never a URI`() throws {
        #expect(
            try Starter("store", "make", "file:store?mode=memory", "delete", folder: folder).finish()
                .status == 0
        )
        #expect(try contents(of: folder).keys.sorted() == ["file:store?mode=memory"])
    }
}
