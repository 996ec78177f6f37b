import Foundation
import Testing

@testable import AppMigrationsSQLite

/// Registers on a connection what an app may register.
///
/// That is the collation `unicase`, the function `app_same`, which returns its argument, and the tokenizer
/// `app_tok` of FTS4 and FTS5. Foreign keys are turned on, as some builds of SQLite have them.
///
/// The library declares no function of SQLite's interface that registers something, so these are found by their names.
enum AppRegistrations {
    private typealias Compare =
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32
    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    private typealias CreateCollation =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, Int32, UnsafeMutableRawPointer?, Compare
        ) -> Int32
    private typealias CreateFunction =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, Int32, Int32, UnsafeMutableRawPointer?, Function?, Function?,
            UnsafeMutableRawPointer?
        ) -> Int32

    private static func symbol<Signature>(_ name: String, as type: Signature.Type) throws -> Signature {
        unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), name)), to: type)
    }

    /// Registers all of it on a connection, the `sqlite3 *` of the C interface.
    @Sendable static func register(on handle: OpaquePointer) throws {
        let createCollation = try symbol("sqlite3_create_collation", as: CreateCollation.self)
        #expect(
            createCollation(handle, "unicase", 1, nil) { _, count, first, others, second in
                func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
                    String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
                }
                let (first, second) = (text(first, count).lowercased(), text(second, others).lowercased())
                return first == second ? 0 : first < second ? -1 : 1
            } == 0
        )
        let createFunction = try symbol("sqlite3_create_function", as: CreateFunction.self)
        let (utf8, deterministic) = (Int32(1), Int32(0x800))
        let returnFirst: Function = { context, _, arguments in
            typealias Result = @convention(c) (OpaquePointer?, OpaquePointer?) -> Void
            let result = dlsym(dlopen(nil, RTLD_NOW), "sqlite3_result_value")
            unsafeBitCast(result, to: Result.self)(context, arguments?[0])
        }
        #expect(
            createFunction(handle, "app_same", 1, utf8 | deterministic, nil, returnFirst, nil, nil) == 0
        )
        let db = SQLiteConnection(borrowing: handle)
        let simple = try db.query("SELECT fts3_tokenizer(?)", ["simple"])[0][0]
        try db.query("SELECT fts3_tokenizer(?, ?)", ["app_tok", simple])
        try registerTokenizerOfFTS5(on: handle)
        try db.query("PRAGMA foreign_keys = ON")
    }

    /// Makes each new connection of this process keep its locks, like an SQLite built with
    /// `SQLITE_DEFAULT_LOCKING_MODE=1`.
    static func keepLocks() throws {
        typealias EntryPoint = @convention(c) (OpaquePointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
        let register = try symbol("sqlite3_auto_extension", as: (@convention(c) (EntryPoint) -> Int32).self)
        let result = register { handle, _, _ in
            typealias Execute =
                @convention(c) (
                    OpaquePointer?, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer?,
                    UnsafeRawPointer?
                ) -> Int32
            let execute = unsafeBitCast(dlsym(dlopen(nil, RTLD_NOW), "sqlite3_exec"), to: Execute.self)
            return execute(handle, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil)
        }
        #expect(result == 0)
    }

    /// Registers the collation `failing`, which reverses as many of its next comparisons as `failures` says.
    ///
    /// To a check it looks like a page that was read wrongly once.
    static func registerFailingCollation(on handle: OpaquePointer, failures: UnsafeMutablePointer<Int>) throws
    {
        let createCollation = try symbol("sqlite3_create_collation", as: CreateCollation.self)
        let result = createCollation(handle, "failing", 1, failures) {
            failures,
            count,
            first,
            others,
            second in
            guard let first, let second else { return 0 }
            let order = memcmp(first, second, Int(min(count, others)))
            let isReversed = failures?.assumingMemoryBound(to: Int.self)
            guard let isReversed, isReversed.pointee > 0 else { return order }
            isReversed.pointee -= 1
            return -order
        }
        #expect(result == 0)
    }

    /// Makes `app_tok` another name of `ascii`, by `fts5_api` ("Extending FTS5").
    private static func registerTokenizerOfFTS5(on handle: OpaquePointer) throws {
        typealias BindPointer =
            @convention(c) (
                OpaquePointer, Int32, UnsafeMutableRawPointer, UnsafePointer<CChar>, UnsafeMutableRawPointer?
            ) -> Int32
        typealias Create =
            @convention(c) (
                UnsafeRawPointer, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer,
                UnsafeMutableRawPointer?
            ) -> Int32
        typealias Find =
            @convention(c) (
                UnsafeRawPointer, UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeRawPointer?>,
                UnsafeMutableRawPointer
            ) -> Int32
        let statement = try SQLiteConnection(borrowing: handle).prepare("SELECT fts5(?)")
        let bind = try symbol("sqlite3_bind_pointer", as: BindPointer.self)
        var found: UnsafeRawPointer?
        let name = strdup("fts5_api_ptr")
        defer { free(name) }
        try withUnsafeMutablePointer(to: &found) { pointer in
            #expect(bind(statement.pointer, 1, pointer, try #require(name), nil) == 0)
            _ = try statement.step()
        }
        let api = try #require(found)
        // A number, a pointer to make a tokenizer, and one to find it.
        let create = api.load(fromByteOffset: 8, as: Create.self)
        let find = api.load(fromByteOffset: 16, as: Find.self)
        var context: UnsafeRawPointer?
        var functions = [Int](repeating: 0, count: 3)
        #expect(find(api, "ascii", &context, &functions) == 0)
        #expect(create(api, "app_tok", context, &functions, nil) == 0)
    }

    /// A database in memory on a connection with all of it.
    static func database(_ sql: String) throws -> SQLiteConnection {
        let db = try SQLiteConnection(path: ":memory:")
        try register(on: db.handle)
        try db.execute(script: sql)
        return db
    }
}
