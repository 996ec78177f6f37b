internal import AppMigrations
internal import AppMigrationsSQL

extension FleetAttempt {
    /// Calls the closure in a transaction, which also saves that the migration has run, and commits both.
    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in db: FleetConnection<Connection>,
        lockTimeout: Duration,
        _ body: nonisolated(nonsending) (Connection, FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) {
        let failure = await call(closing: db) {
            let connection = try await db.open()
            // After a deadlock or a serialization failure the closure is called again, up to three times.
            for retriesLeft in [3, 2, 1, 0] {
                do {
                    var process: ServerProcess?
                    try await watch.call(at: nil, closing: db) {
                        try await begin(db, lockTimeout: lockTimeout)
                        process = try await ServerProcess(db.query(ServerProcess.query))
                    }
                    return try await SQLError.telling(Connection.self) {
                        try await watch.call(at: process.map(StatementPlace.transaction), closing: db) {
                            try await body(connection, context)
                        }
                    }
                } catch let unanswered as UnansweredStatement {
                    throw unanswered.reason
                } catch {
                    let state = (error as? SQLError)?.sqlState
                    guard retriesLeft > 0, SQLError.isOfConcurrency(state), !Task.isCancelled,
                        await !db.rollBack(isLast: false)
                    else { throw error }
                }
                try await clock.pause(.milliseconds(Int.random(in: 50...200)))
            }
        }
        let loss = await holder.end()
        guard failure == nil, loss == nil else {
            let isGone = await db.rollBack()
            if let loss { throw lost(loss, failure) }
            throw await saveTransactionFailure(failure ?? CancellationError(), isGone: isGone)
        }
        try await record(db)
        await db.close()
    }

    nonisolated(nonsending) private func begin<Connection: AsyncSQLConnection>(
        _ db: FleetConnection<Connection>,
        lockTimeout: Duration
    ) async throws {
        guard let store = holder.stored.postgres, Connection.dialect == .postgres else {
            throw SQLError.wrongConnection
        }
        try await db.begin(idle: holder.lease.length, lockTimeout: lockTimeout)
        let readMarkSQL = FleetConnection<Connection>.readMarkSQL
        let mark = try await deadline.bound { try await store.ask(readMarkSQL, []) }
        guard mark != [["open"]], let document = try await store.table.document(named: location.name, on: db),
            case let state = try MigrationState(document: document.bytes, at: location),
            holder.isOfThisHolder(state.versions.interruption?.lease)
        else { throw SQLError.wrongConnection }
    }

    nonisolated(nonsending) private func record(
        _ db: FleetConnection<some AsyncSQLConnection>
    ) async throws(MigrationError) {
        let row = makeRow()
        let stored = holder.stored
        let next = holder.state.recording(row)
        let isWritten: Bool
        do {
            let consequence: Message = "Migration \(context.version) was rolled back."
            let document = try stored.text(of: next, context.version, else: consequence)
            if try await !db.isMarked { throw SQLError.endedTransaction() }
            // All settings that the closure has changed in the session are restored.
            _ = try await db.query(PostgresSettings.restoring, db.settings)
            // The lock timeout is shorter than our deadline, so that the server's error says why there is no
            // answer.
            try await db.query("SET LOCAL lock_timeout = \((deadline.limit * 3 / 4).wholeMilliseconds)")
            let name = stored.location.name
            let revision = holder.revision
            isWritten =
                try await stored.postgres?.table
                .replaceDocument(named: name, ifRevision: revision, with: document, isWaiting: true, on: db)
                != nil
        } catch {
            throw await saveTransactionFailure(error, isGone: await db.rollBack())
        }
        guard isWritten else {
            _ = await db.rollBack()
            let found: StoredState.Found
            do throws(MigrationError) {
                found = try await uncancelled { () throws(MigrationError) in try await stored.read() }
            } catch {
                throw error.completed(by: "Migration \(context.version) was rolled back.")
            }
            if holder.isOfThisHolder(found.lease) { throw await saveFailure(SQLError.wrongConnection) }
            throw lost(.taken(by: found.lease?.owner))
        }
        do {
            try await db.query("COMMIT")
            holder.setCommitted(next)
        } catch {
            _ = await db.rollBack()
            try await settle(row, after: error)
        }
    }

    /// Finds out whether a commit has succeeded, if the server didn't answer it.
    ///
    /// The server may still be working on the commit. So this saves that the attempt has failed, and the save
    /// decides:
    ///
    /// - The save waits until the transaction has ended, because the transaction locks the document's row.
    /// - If the commit succeeded, the document contains the record of the migration. The save finds it, and
    ///   changes nothing.
    /// - Otherwise the save changes the document's revision. The record of the migration is written only if
    ///   the document has the old revision, so it can't be written any more.
    private func settle(_ row: AppliedMigration, after cause: any Error) async throws(MigrationError) {
        do throws(MigrationError) {
            // `holder.state` doesn't have the record, which was written only in the transaction.
            try await holder.release(holder.state.withFailure(cause), else: "") { $0.history.contains(row) }
        } catch {
            if error.code == .leaseLost {
                throw error.adding("The commit had failed: \(MigrationError.sentence(cause))")
            }
            let checkError = error.underlyingError == nil ? nil : error
            throw location.commitUnanswered(cause, version: context.version, checkError: checkError)
        }
        if !holder.state.history.contains(row) { throw failed(cause) }
    }

    /// Saves the failure of a transaction.
    ///
    /// The server ends a transaction if it gets no statement for the length of a lease, and then the error
    /// says so.
    ///
    /// Not every client library reports why the server has ended a connection. So this is concluded from the
    /// time that the closure took.
    private func saveTransactionFailure(_ cause: any Error, isGone: Bool) async -> MigrationError {
        // If this library has closed the connection, the error says why. A longer lease would only make the
        // wait longer.
        let isWatched = [.closed, .cancelled].contains((cause as? SQLError)?.code)
        if isGone, !isWatched, makeRow().duration >= holder.lease.length {
            return await saveFailure(
                cause,
                """
                 The server has probably ended the transaction, because it got no statement for the length of a lease. Make \
                leaseDuration longer, or do other work before the transaction.
                """
            )
        }
        // lock_not_available
        let isLocked = (cause as? SQLError)?.sqlState == "55P03"
        let blocker = isLocked ? await holder.stored.blocker() : nil
        return await saveFailure(cause, blocker.map { " The row of the state is locked by \($0)." } ?? "")
    }
}

extension SQLError {
    fileprivate static var wrongConnection: SQLError {
        SQLError(
            .statementFailed,
            "The connection of in: can't be used. It needs a PostgresFleetStore as the store, and has to be a second connection to"
                + " the same database"
        )
    }
}
