internal import AppMigrations
internal import AppMigrationsSystem

extension SQLMigration {
    /// The `.sql` files of a folder, named `<version>.sql` or `<version>_<name>.sql`.
    ///
    /// These are the names of FMDBMigrationManager: a version of at most 18 digits, then, after an
    /// underscore, a name of letters, digits, blanks, `-` and `_` that does not end with an underscore.
    /// Another `.sql` file is an error and not passed over, since it is most likely a migration with a
    /// misspelt name; hidden files and other kinds are passed over. A file is read when it is about to run,
    /// all of them before the first runs, and when it is compared with what was applied.
    ///
    /// - Parameter folder: A path.
    /// - Returns: A migration for each file, in the order of their versions.
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/fileFailure`` for a folder that can't be
    ///   read or has no such file, and ``SQLError/Code/invalidFileName`` or
    ///   ``SQLError/Code/invalidVersion`` for a wrong name.
    public static func files(in folder: String) throws(SQLError) -> [SQLMigration] {
        let names: [String]
        do {
            // A name that is no text is refused like any other that is misspelt.
            names = try Platform.names(in: folder, strictly: true)
        } catch {
            throw fileError(.fileFailure, "The folder can't be read: \(error). No migration was run", folder)
        }
        var steps = [SQLStep]()
        for name in names where name.lowercased().hasSuffix(".sql") && !name.hasPrefix(".") {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            let (version, title) = try parse(name, path)
            steps.insertInOrder(SQLStep(version: version, name: title, file: path))
        }
        if steps.isEmpty {
            throw fileError(.fileFailure, "The folder has no .sql file. No migration was run", folder)
        }
        var migrations = [SQLMigration]()
        for step in steps { migrations.append(SQLMigration(step)) }
        return migrations
    }

    private static func parse(
        _ fileName: String,
        _ path: String
    ) throws(SQLError) -> (version: Int64, name: String?) {
        let digits = fileName.prefix { $0.isASCII && $0.isNumber }
        let name = fileName.dropFirst(digits.count + 1).dropLast(4)
        let isName = name.allSatisfy { $0.isLetter || $0.isNumber || $0.isWhitespace || "-_".contains($0) }
        let hasName = isName && fileName.dropFirst(digits.count).first == "_" && name.last ?? "_" != "_"
        let isComplete = hasName || fileName.count == digits.count + 4
        guard !digits.isEmpty, fileName.hasSuffix(".sql"), isComplete else {
            throw fileError(.invalidFileName, "The file doesn't have the name of a migration", path)
        }
        guard digits.count <= 18, let version = Int64(String(digits)) else {
            throw fileError(.invalidVersion, "The version \(digits) has more than 18 digits", path)
        }
        return (version, hasName ? String(name) : nil)
    }

    private static func fileError(_ code: SQLError.Code, _ message: String, _ path: String) -> SQLError {
        SQLError(code, message).with { $0.path = path }
    }
}

extension Platform {
    /// The bytes of a regular file, also where a link leads to it; `nil` for anything else.
    static func bytes(ofFile path: String) throws(SystemCallError) -> [UInt8]? {
        // open(2): without O_NONBLOCK a FIFO would be waited for until a program writes to it.
        let file = try opening { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(file) }
        return try contents(ofOpen: file, limit: .max)
    }
}
