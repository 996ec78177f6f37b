internal import AppMigrations
internal import AppMigrationsSystem

extension SQLMigration {
    /// The `.sql` files of a folder, named `<version>.sql` or `<version>_<name>.sql`.
    ///
    /// These are the file names of FMDBMigrationManager: a version of at most 18 digits, then, after an
    /// underscore, a name of letters, digits, spaces, `-` and `_` that does not end with an underscore.
    ///
    /// Hidden files and files of other types are ignored. Any other `.sql` file is an error, because it is
    /// probably a migration with a misspelled name. The files of pending migrations are read before the first
    /// of them runs. The file of an applied migration is read when its text is compared with the ledger.
    ///
    /// - Parameter folder: The path of the folder.
    /// - Returns: A migration for each file, in the order of their versions.
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/fileFailure`` for a folder that can't be
    ///   read or has no such file, and ``SQLError/Code/invalidFileName`` or
    ///   ``SQLError/Code/invalidVersion`` for a wrong name.
    public static func files(in folder: String) throws(SQLError) -> [SQLMigration] {
        let names: [String]
        do {
            // A name that is not UTF-8 is an error, like any other misspelled name.
            names = try Platform.names(in: folder)
        } catch {
            throw fileError(
                .fileFailure,
                "The folder can't be read: \(error). No migration was run",
                path: folder
            )
        }
        var steps = [SQLStep]()
        for name in names where name.lowercased().hasSuffix(".sql") && !name.hasPrefix(".") {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            let migration = try parse(fileName: name, path: path)
            steps.insertInOrder(SQLStep(version: migration.version, name: migration.name, file: path))
        }
        if steps.isEmpty {
            throw fileError(.fileFailure, "The folder has no .sql file. No migration was run", path: folder)
        }
        var migrations = [SQLMigration]()
        for step in steps { migrations.append(SQLMigration(step)) }
        return migrations
    }

    private static func parse(
        fileName: String,
        path: String
    ) throws(SQLError) -> (version: Int64, name: String?) {
        let digits = fileName.prefix { $0.isASCII && $0.isNumber }
        let name = fileName.dropFirst(digits.count + 1).dropLast(4)
        let isName = name.allSatisfy { $0.isLetter || $0.isNumber || $0.isWhitespace || "-_".contains($0) }
        let hasUnderscore = fileName.dropFirst(digits.count).first == "_"
        let hasName = isName && hasUnderscore && !name.isEmpty && !name.hasSuffix("_")
        let isComplete = hasName || fileName.count == digits.count + 4
        guard !digits.isEmpty, fileName.hasSuffix(".sql"), isComplete else {
            throw fileError(.invalidFileName, "The file doesn't have the name of a migration", path: path)
        }
        guard digits.count <= 18, let version = Int64(String(digits)) else {
            throw fileError(.invalidVersion, "The version \(digits) has more than 18 digits", path: path)
        }
        return (version, hasName ? String(name) : nil)
    }

    private static func fileError(
        _ code: SQLError.Code,
        _ message: String,
        path: String
    ) -> SQLError {
        SQLError(code, message).with { $0.path = path }
    }
}

extension Platform {
    /// The bytes of a regular file, or of the file that a link leads to; `nil` for anything else.
    static func bytes(ofFile path: String) throws(SystemCallError) -> [UInt8]? {
        // Without O_NONBLOCK, opening a FIFO waits until another program opens it for writing (open(2)).
        let file = try opening { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(file) }
        return try contents(ofOpen: file, limit: .max)
    }
}
