internal import AppMigrations

extension SQLRequest {
    /// Answers on a connection that blocks.
    fileprivate func answer(on db: any SQLConnection, _ call: () throws -> Void) throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments), .undo(let sql, let arguments):
            return try db.query(sql, arguments)
        case .script(let text): try db.execute(script: text)
        case .call: try call()
        case .pause(let time): Platform.pause(time)
        }
        return []
    }

    /// Answers on a connection that is awaited.
    ///
    /// Each statement goes to it by itself: where a script has several, the dialect has split it before.
    @inline(never)
    fileprivate nonisolated(nonsending) func answer(
        awaiting db: any AsyncSQLConnection,
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments): return try await db.query(sql, arguments)
        case .undo(let sql, let arguments): return try await db.undo(sql, arguments)
        case .script(let text): return try await db.query(text, [])
        case .call: try await call()
        case .pause(let time): try await Task.sleep(for: time)
        }
        return []
    }
}

extension SQLWork {
    /// Runs the work on a connection that blocks, and returns the rows that it gives.
    ///
    /// What the caller's closure throws is also kept as it was, in `failure`.
    @inline(never)
    @discardableResult
    package func run(
        on db: any SQLConnection,
        keeping failure: ClosureFailure? = nil,
        calling call: () throws -> Void = {}
    ) throws(SQLError) -> SQLRows {
        let work = WorkUnderWay(self, failure)
        while let request = try work.next() {
            do { work.take(try request.answer(on: db, call)) } catch { work.take(error) }
        }
        return work.rows
    }

    /// Runs the work on a connection that is awaited, on the caller's actor.
    @inline(never)
    @discardableResult
    package nonisolated(nonsending) func run(
        awaiting db: any AsyncSQLConnection,
        keeping failure: ClosureFailure? = nil,
        calling call: nonisolated(nonsending) () async throws -> Void = {}
    ) async throws(SQLError) -> SQLRows {
        let work = WorkUnderWay(self, failure)
        while let request = try work.next() {
            do { work.take(try await request.answer(awaiting: db, call)) } catch { work.take(error) }
        }
        return work.rows
    }
}
