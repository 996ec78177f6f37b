internal import AppMigrations
internal import AppMigrationsSQL

extension FleetAttempt {
    /// Calls the closure in a transaction, which also saves that the migration has run, and commits both.
    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in db: FleetConnection<Connection>,
        lockTimeout: Duration,
        closure: nonisolated(nonsending) (Connection, FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) {
        let failure = await call(closing: db) {
            let connection = try await db.open()
            // After a deadlock or a serialization failure the closure is called again, up to three times.
            for retriesLeft in [3, 2, 1, 0] {
                do {
                    var process: ServerProcess?
                    try await watch.call(in: nil, closing: db) {
                        try await begin(on: db, lockTimeout: lockTimeout)
                        process = try await ServerProcess(db.query(ServerProcess.query))
                    }
                    return try await SQLError.convertingServerErrors(of: Connection.self) {
                        try await watch.call(in: process.map(StatementContext.transaction), closing: db) {
                            try await closure(connection, context)
                        }
                    }
                } catch let unanswered as UnansweredStatement {
                    throw unanswered.reason
                } catch {
                    let state = (error as? SQLError)?.sqlState
                    guard retriesLeft > 0, SQLError.isConcurrencyFailure(state), !Task.isCancelled,
                        await !db.rollBack(thenClose: false)
                    else { throw error }
                }
                try await clock.pause(.milliseconds(Int.random(in: 50...200)))
            }
        }
        let loss = await holder.stopRenewing()
        guard failure == nil, loss == nil else {
            let connectionFailed = await db.rollBack()
            if let loss { throw leaseLost(loss, failure: failure) }
            throw await saveTransactionFailure(
                failure ?? CancellationError(),
                connectionFailed: connectionFailed
            )
        }
        try await recordAndCommit(on: db)
        await db.close()
    }

    /// Begins the transaction, and checks that its connection is a second connection to the store's database.
    nonisolated(nonsending) private func begin<Connection: AsyncSQLConnection>(
        on db: FleetConnection<Connection>,
        lockTimeout: Duration
    ) async throws {
        guard let store = holder.repository.postgres, Connection.dialect == .postgres else {
            throw SQLError.wrongConnection
        }
        try await db.begin(idle: holder.lease.length, lockTimeout: lockTimeout)
        let readMarkSQL = FleetConnection<Connection>.readMarkSQL
        let mark = try await deadline.bound { try await store.ask(readMarkSQL, []) }
        // If the store's query sees the mark of the transaction, both use the same connection. If the
        // transaction doesn't see the lease of this host in the document, it is in another database.
        let document: FleetDocument?
        do { document = try await store.table.document(named: location.name, on: db) } catch {
            // undefined_table, undefined_column
            let isMissing = ["42P01", "42703"].contains((error as? SQLError)?.sqlState)
            throw isMissing ? SQLError.wrongConnection : error
        }
        guard mark != [["open"]], let document,
            holder.isOfThisHolder(try holder.repository.found(document).lease)
        else { throw SQLError.wrongConnection }
    }

    /// Records that the migration has run, in the transaction that contains the work of the closure, and
    /// commits that transaction.
    nonisolated(nonsending) private func recordAndCommit(
        on db: FleetConnection<some AsyncSQLConnection>
    ) async throws(MigrationError) {
        let row = makeRow()
        let next = holder.withoutLease(holder.state.changed { $0.record(row) })
        let isWritten: Bool
        do { isWritten = try await write(next, on: db) } catch {
            throw await saveTransactionFailure(error, connectionFailed: await db.rollBack())
        }
        guard isWritten else {
            _ = await db.rollBack()
            throw await unwrittenError()
        }
        do {
            try await db.query("COMMIT")
            holder.setCommitted(next)
        } catch {
            _ = await db.rollBack()
            try await resolveUnansweredCommit(of: row, after: error)
        }
    }

    /// Ends the closure's part of the transaction, and writes the document.
    ///
    /// Returns false if the document doesn't have the revision that this host saved last.
    nonisolated(nonsending) private func write(
        _ state: MigrationState,
        on db: FleetConnection<some AsyncSQLConnection>
    ) async throws -> Bool {
        let repository = holder.repository
        let consequence: Message = "Migration \(context.version) was rolled back."
        let document = try repository.bytes(of: state, version: context.version, else: consequence)
        if try await !db.isMarked { throw SQLError.endedTransaction() }
        // All settings that the closure has changed in the session are restored.
        _ = try await db.query(PostgresSettings.restoring, db.settings)
        // The lock timeout is shorter than our deadline, so that the server's error says why there is no
        // answer.
        try await db.query("SET LOCAL lock_timeout = \((deadline.limit * 3 / 4).wholeMilliseconds)")
        let revision = try await repository.postgres?.table.replaceDocument(
            named: location.name,
            ifRevision: holder.revision,
            with: document,
            waitsForLock: true,
            on: db
        )
        return revision != nil
    }

    /// Returns the error to throw if the document was not written because its revision had changed.
    private func unwrittenError() async -> MigrationError {
        let found: StateRepository.Found
        do throws(MigrationError) {
            let repository = holder.repository
            found = try await uncancelled { () throws(MigrationError) in try await repository.read() }
        } catch {
            return error.leaving(.text("Migration \(context.version) was rolled back."))
        }
        // If this host still has its lease in the store, the transaction was in another database, such as a
        // copy.
        if holder.isOfThisHolder(found.lease) { return await saveFailure(SQLError.wrongConnection) }
        return leaseLost(.taken(by: found.lease?.owner))
    }

    /// Finds out whether a commit that the server didn't answer has succeeded.
    ///
    /// The server may still be working on the commit. So this function tries to save that the attempt has
    /// failed. That save shows whether the commit has succeeded:
    ///
    /// - The save waits until the transaction has ended, because the transaction locks the document's row.
    /// - If the commit succeeded, the document contains the record of the migration. The save finds it, and
    ///   changes nothing.
    /// - Otherwise the save changes the document's revision. The record of the migration is written only if
    ///   the document has the old revision, so it can't be written any more.
    private func resolveUnansweredCommit(
        of row: AppliedMigration,
        after cause: any Error
    ) async throws(MigrationError) {
        do throws(MigrationError) {
            // `holder.state` doesn't have the record, which was written only in the transaction.
            try await holder.release(holder.state.changed { $0.fail(cause) }, else: "") { $0.hasRow(row) }
        } catch {
            if error.code == .leaseLost {
                throw error.ending(in: .text("The commit had failed: \(MigrationError.sentence(cause))"))
            }
            let checkError = error.underlyingError == nil ? nil : error
            throw location.commitUnanswered(cause, version: context.version, checkError: checkError)
        }
        if !holder.state.hasRow(row) { throw failed(because: cause) }
    }

    /// Saves the failure of a transaction.
    ///
    /// The server ends a transaction if it gets no statement for the length of a lease, and then the error
    /// says so.
    ///
    /// Not every client library reports why the server has ended a connection. So this is concluded from the
    /// time that the closure took.
    private func saveTransactionFailure(
        _ cause: any Error,
        connectionFailed: Bool
    ) async -> MigrationError {
        // If this library has closed the connection, the error says why. A longer lease would only make the
        // wait longer.
        let isClosedHere = [.closed, .cancelled].contains((cause as? SQLError)?.code)
        if connectionFailed, !isClosedHere, makeRow().duration >= holder.lease.length {
            return await saveFailure(
                cause,
                advice: """
                     The server has probably ended the transaction, because it got no statement for the length of a lease. \
                    Make leaseDuration longer, or do other work before the transaction.
                    """
            )
        }
        // lock_not_available
        let isLocked = (cause as? SQLError)?.sqlState == "55P03"
        let blocker = isLocked ? await holder.repository.blocker() : nil
        return await saveFailure(
            cause,
            advice: blocker.map { " The row of the state is locked by \($0)." } ?? ""
        )
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
