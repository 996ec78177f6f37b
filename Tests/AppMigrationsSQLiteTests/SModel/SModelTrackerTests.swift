import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// The number that sModel keeps in a database, in the places in which its versions keep it.
@Suite struct SModelTrackerTests {
    /// As version 3 of sModel creates its table, in two steps.
    static let firstTable = """
        CREATE TABLE "_sModel_DBDefTracker" (
          "namespace" TEXT PRIMARY KEY,
          "version" INTEGER,
          "lastUpdated" REAL
        );
        """
    static let table = firstTable + "ALTER TABLE _sModel_DBDefTracker ADD lastHash TEXT;"

    private static let begun = table + "PRAGMA user_version = 1002; INSERT INTO _sModel_DBDefTracker VALUES "
    private static let firstBegun =
        firstTable + "PRAGMA user_version = 1001; INSERT INTO _sModel_DBDefTracker VALUES "

    private static func database(_ script: String) throws -> SQLiteConnection {
        let db = try SQLiteConnection(path: ":memory:")
        if !script.isEmpty { try db.execute(script: script) }
        return db
    }

    private static func rows(in db: SQLiteConnection) throws -> [[SQLValue]] {
        try db.query("SELECT namespace, version, lastHash FROM _sModel_DBDefTracker ORDER BY namespace")
    }

    @Test(
        arguments: [
            ("", 0, 0),
            ("PRAGMA user_version = 5;", 5, 0),
            ("PRAGMA user_version = 1002;", 0, 0),
            ("PRAGMA user_version = 1000;", 0, 0),
            (table + "PRAGMA user_version = 1002;", 0, 0),
            (begun + "('', 3, 0, 'x'), ('songs', 7, 0, '')", 3, 7),
            (firstBegun + "('songs', 7, 0)", 0, 7),
            // Killed after the table was created, and before the number was moved into it.
            (table + "PRAGMA user_version = 4;", 4, 0),
        ] as [(String, Int64, Int64)]
    )
    func `the number is found in each place`(script: String, number: Int64, ofSongs: Int64) throws {
        let db = try Self.database(script)
        #expect(try SModelTracker().version(in: db) == number)
        #expect(try SModelTracker(namespace: "songs").version(in: db) == ofSongs)
        #expect(try SModelTracker(namespace: "others").version(in: db) == 0)
    }

    /// A newer sModel may keep the number elsewhere.
    @Test(arguments: [1_003, -1], ["", table + "INSERT INTO _sModel_DBDefTracker VALUES ('', 1, 0, 'x');"])
    func `a number in the header that no known sModel sets is an error`(number: Int, script: String) throws {
        let db = try Self.database(script + "PRAGMA user_version = \(number);")
        let text =
            "PRAGMA user_version is \(number), and the versions of sModel up to 3.1 set no number above 1002. Nothing "
            + "was changed. If a newer release of the app wrote the database, update the app."
        for call in [
            { _ = try SModelTracker().version(in: db) }, { try SModelTracker().raiseVersion(to: 3, in: db) },
        ] {
            let error = try #require(throws: SQLError.self, performing: call)
            #expect(error.code == .unknownSModelFormat && "\(error)" == text)
        }
        #expect(try db.userVersion == number)
    }

    @Test func `a number that is no whole number is an error`() throws {
        let db = try Self.database(Self.table + "INSERT INTO _sModel_DBDefTracker VALUES ('', 'many', 0, '')")
        #expect(throws: SQLError.self) { try SModelTracker().version(in: db) }
        #expect(throws: SQLError.self) { try SModelTracker().raiseVersion(to: 3, in: db) }
    }

    @Test(arguments: ["", "PRAGMA user_version = 2;"])
    func `without the table, the number is raised in the header`(script: String) throws {
        let db = try Self.database(script)
        try SModelTracker().raiseVersion(to: 3, in: db)
        #expect(try db.userVersion == 3)
        try SModelTracker().raiseVersion(to: 2, in: db)
        #expect(try db.userVersion == 3)
        #expect(try db.query("SELECT name FROM sqlite_master").isEmpty)
    }

    @Test func `in the table, the number is raised and the hash is cleared`() throws {
        let db = try Self.database(Self.begun + "('', 2, 5, 'x'), ('songs', 7, 5, 'y')")
        try SModelTracker().raiseVersion(to: 3, in: db)
        #expect(try Self.rows(in: db) == [["", 3, ""], ["songs", 7, "y"]])
        // The number is high enough, so the hash stays.
        try SModelTracker(namespace: "songs").raiseVersion(to: 7, in: db)
        try SModelTracker(namespace: "new").raiseVersion(to: 1, in: db)
        #expect(try Self.rows(in: db) == [["", 3, ""], ["new", 1, ""], ["songs", 7, "y"]])
        #expect(try db.userVersion == 1_002)
        let updated = try db.query("SELECT lastUpdated FROM _sModel_DBDefTracker ORDER BY namespace")
        #expect(updated == [[5.0], [0.0], [5.0]])
    }

    /// sModel 3.1 skips a row without a hash, and would run all definitions again.
    @Test(arguments: [3, 1] as [Int64])
    func `a table of sModel 3_0 gets a hash, also for the other namespaces`(version: Int64) throws {
        let db = try Self.database(Self.firstBegun + "('', 1, 0), ('songs', 7, 0)")
        try SModelTracker().raiseVersion(to: version, in: db)
        #expect(try Self.rows(in: db) == [["", .integer(version), ""], ["songs", 7, ""]])
        #expect(try db.userVersion == 1_002)
    }

    /// Version 3 of sModel was killed after it had created the table, so the header still counts.
    @Test func `a number in the header moves into a table that exists`() throws {
        let db = try Self.database(Self.table + "PRAGMA user_version = 1;")
        try SModelTracker(namespace: "songs").raiseVersion(to: 7, in: db)
        #expect(try Self.rows(in: db) == [["", 1, ""], ["songs", 7, ""]])
        try SModelTracker().raiseVersion(to: 2, in: db)
        #expect(try Self.rows(in: db) == [["", 2, ""], ["songs", 7, ""]])
        #expect(try db.userVersion == 1_002)
    }

    @Test func `a lower number in the header lowers nothing`() throws {
        let db = try Self.database(
            Self.table + "PRAGMA user_version = 1; INSERT INTO _sModel_DBDefTracker VALUES ('', 2, 0, 'x')"
        )
        try SModelTracker(namespace: "songs").raiseVersion(to: 7, in: db)
        #expect(try Self.rows(in: db) == [["", 2, "x"], ["songs", 7, ""]])
    }

    /// A new install has no table yet.
    ///
    /// Version 3 of sModel would run the definitions of each namespace.
    @Test(
        arguments: [("", []), ("PRAGMA user_version = 4;", [["", 4, ""]])]
            as [(String, [[SQLValue]])]
    )
    func `a namespace gets the table, and the number in the header moves into it`(
        script: String,
        moved: [[SQLValue]]
    ) throws {
        let db = try Self.database(script)
        try SModelTracker(namespace: "songs").raiseVersion(to: 7, in: db)
        #expect(try Self.rows(in: db) == moved + [["songs", 7, ""]])
        #expect(try db.userVersion == 1_002)
    }

    @Test func `a thousand definitions don't fit into the header`() throws {
        let db = try Self.database("PRAGMA user_version = 999;")
        try SModelTracker().raiseVersion(to: 1_000, in: db)
        #expect(try Self.rows(in: db) == [["", 1_000, ""]])
        #expect(try db.userVersion == 1_002)
    }

    @Test func `if a part of it fails, nothing is changed`() throws {
        let db = try Self.database(
            Self.table + """
                PRAGMA user_version = 1002; INSERT INTO _sModel_DBDefTracker VALUES ('', 2, 0, 'x');
                CREATE TRIGGER refuse BEFORE UPDATE OF lastHash ON _sModel_DBDefTracker
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """
        )
        #expect(throws: SQLError.self) { try SModelTracker().raiseVersion(to: 3, in: db) }
        #expect(try Self.rows(in: db) == [["", 2, "x"]])
    }

    @Test func `in a transaction, it is part of the transaction`() throws {
        let db = try Self.database("PRAGMA user_version = 2;")
        try db.query("BEGIN")
        try SModelTracker().raiseVersion(to: 3, in: db)
        try db.query("ROLLBACK")
        #expect(try db.userVersion == 2)
    }

    @Test(arguments: ["", "songs"])
    func `each definition and sModel's number are committed together`(namespace: String) throws {
        let db = try Self.database("")
        let tracker = SModelTracker(namespace: namespace)
        let definitions = [
            "CREATE TABLE a(x)", "CREATE TABLE b(x); INSERT INTO b VALUES (1)", "CREATE TABLE a(x)",
        ]
        let migrator = try SQLiteMigrator(tracker.migrations(definitions))
        let error = try #require(throws: SQLError.self) { try migrator.migrate(db) }
        #expect(error.version == 3 && error.applied == [1, 2])
        #expect(try tracker.version(in: db) == 2)
        #expect(try migrator.status(db).applied == [1, 2])
        #expect(try db.query("SELECT x FROM b") == [[1]])
    }
}
