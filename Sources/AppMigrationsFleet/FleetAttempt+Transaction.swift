internal import AppMigrations
internal import AppMigrationsSQL

extension FleetAttempt {
    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in db: FleetConnection<Connection>,
        lockTimeout: Duration,
        _ body: nonisolated(nonsending) (Connection, FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) {
        let failure = await call(closing: db) {
            let connection = try await db.open()
            // A closure that met a deadlock or a serialization failure is called again.
            for left in [3, 2, 1, 0] {
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
                    guard left > 0, SQLError.isOfConcurrency(state), !Task.isCancelled,
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
            throw await noteEnd(failure ?? CancellationError(), isGone: isGone)
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
        let asksForMark = FleetConnection<Connection>.asksForMark
        let mark = try await deadline.bound { try await store.ask(asksForMark, []) }
        guard mark != [["open"]], let document = try await store.table.document(named: location.name, on: db),
            case let state = try MigrationState(document: document.bytes, at: location),
            holder.isOfThisHolder(state.versions.interruption?.lease)
        else { throw SQLError.wrongConnection }
    }

    nonisolated(nonsending) private func record(
        _ db: FleetConnection<some AsyncSQLConnection>
    ) async throws(MigrationError) {
        let row = row
        let stored = holder.stored
        let next = holder.state.recording(row)
        let isWritten: Bool
        do {
            let consequence: Message = "Migration \(context.version) was rolled back."
            let document = try stored.text(of: next, context.version, else: consequence)
            if try await !db.isMarked { throw SQLError.endedTransaction() }
            // All that the closure has set in the session is put back.
            _ = try await db.query(PostgresSettings.restoring, db.settings)
            // The server says before the deadline why there is no answer.
            try await db.query("SET LOCAL lock_timeout = \((deadline.limit * 3 / 4).wholeMilliseconds)")
            let name = stored.location.name
            let revision = holder.revision
            isWritten =
                try await stored.postgres?.table
                .replaceDocument(named: name, ifRevision: revision, with: document, isWaiting: true, on: db)
                != nil
        } catch {
            throw await noteEnd(error, isGone: await db.rollBack())
        }
        guard isWritten else {
            _ = await db.rollBack()
            let found: StoredState.Found
            do throws(MigrationError) {
                found = try await uncancelled { () throws(MigrationError) in try await stored.read() }
            } catch {
                throw error.completed(by: "Migration \(context.version) was rolled back.")
            }
            if holder.isOfThisHolder(found.lease) { throw await note(SQLError.wrongConnection) }
            throw lost(.taken(by: found.lease?.owner))
        }
        do {
            try await db.query("COMMIT")
            holder.move(to: next)
        } catch {
            _ = await db.rollBack()
            try await settle(row, after: error)
        }
    }

    /// Finds out what became of a commit that wasn't answered: the server may still be at it.
    ///
    /// The note of the failure settles it. It waits for the document's row, and either finds the record there
    /// or takes the lease's revision, on which the record depended.
    private func settle(_ row: AppliedMigration, after cause: any Error) async throws(MigrationError) {
        do throws(MigrationError) {
            // The state before the record, which was written in the transaction only.
            try await holder.release(holder.state.withFailure(cause), else: "") { $0.history.contains(row) }
        } catch {
            if error.code == .leaseLost {
                throw error.adding("The commit had failed: \(MigrationError.sentence(cause))")
            }
            let second = error.underlyingError == nil ? nil : error
            throw location.commitUnanswered(cause, context.version, second)
        }
        if !holder.state.history.contains(row) { throw failed(cause) }
    }

    /// Notes the failure of a transaction, which the server ends where its host sends nothing for the length
    /// of a lease.
    ///
    /// Not every client hands over why the server ended a connection.
    private func noteEnd(_ cause: any Error, isGone: Bool) async -> MigrationError {
        // A connection that this library has closed says why. A longer lease would only make the wait longer.
        let isWatched = [.closed, .cancelled].contains((cause as? SQLError)?.code)
        if isGone, !isWatched, row.duration >= holder.lease.length {
            return await note(
                cause,
                """
                 The server ends a transaction that gets no statement for the length of a lease. Make leaseDuration longer, or do \
                other work before the transaction.
                """
            )
        }
        // lock_not_available
        let isLocked = (cause as? SQLError)?.sqlState == "55P03"
        let blocker = isLocked ? await holder.stored.blocker() : nil
        return await note(cause, blocker.map { " The row of the state is locked by \($0)." } ?? "")
    }
}

extension SQLError {
    fileprivate static var wrongConnection: SQLError {
        SQLError(
            .statementFailed,
            "in: needs a PostgresFleetStore as the store, and a second connection to its database"
        )
    }
}
