internal import AppMigrations

extension SQLWork {
    /// Runs the work on a connection that blocks.
    package func run(on db: any SQLConnection, calling call: () throws -> Void = {}) throws(SQLError) -> Value
    {
        var work = self
        while true {
            switch work {
            case .done(let value): return value
            case .failed(let error): throw error
            case .asking(let request, let next):
                do {
                    var rows = [[SQLValue]]()
                    switch request {
                    case .query(let sql, let arguments), .undo(let sql, let arguments):
                        rows = try db.query(sql, arguments)
                    case .script(let text): try db.execute(script: text)
                    case .call: try call()
                    case .pause(let time): Platform.pause(time)
                    }
                    work = next(.rows(rows))
                } catch {
                    work = next(.failed(error))
                }
            }
        }
    }

    /// Runs the work on a connection that is awaited, on the caller's actor.
    ///
    /// Each statement goes to it by itself: where a script has several, the dialect has split it before.
    package nonisolated(nonsending) func run(
        awaiting db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void = {}
    ) async throws(SQLError) -> Value {
        var work = self
        while true {
            switch work {
            case .done(let value): return value
            case .failed(let error): throw error
            case .asking(let request, let next):
                do {
                    var rows = [[SQLValue]]()
                    switch request {
                    case .query(let sql, let arguments): rows = try await db.query(sql, arguments)
                    case .undo(let sql, let arguments): rows = try await db.undo(sql, arguments)
                    case .script(let text): try await db.query(text, [])
                    case .call: try await call()
                    case .pause(let time): try await Task.sleep(for: time)
                    }
                    work = next(.rows(rows))
                } catch {
                    work = next(.failed(error))
                }
            }
        }
    }
}
