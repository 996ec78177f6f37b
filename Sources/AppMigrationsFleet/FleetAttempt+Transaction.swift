internal import AppMigrations
internal import AppMigrationsPostgreSQL
internal import AppMigrationsSQL

/// An attempt whose record is written in the transaction of its closure.
extension FleetAttempt {
    /// How often a closure is called again that met a deadlock or a serialization failure.
    private static var repetitions: Int { 3 }

    private var deadline: Deadline { holder.stored.deadline }

    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in connect: nonisolated(nonsending) () async throws -> Connection,
        _ body: nonisolated(nonsending) (Connection) async throws -> Void
    ) async throws(MigrationError) {
        let (store, connection) = try await connected { () async throws -> (any PostgresStore, Connection) in
            guard let store = holder.stored.store as? any PostgresStore, Connection.dialect == .postgres
            else { throw SQLError.otherDatabase }
            return (store, try await SQLError.telling(Connection.self, connect))
        }
        let session = FleetSession(db: connection)
        do throws(MigrationError) {
            try await transact(session, store) { () async throws in try await body(connection) }
        } catch {
            await session.close(deadline)
            throw error
        }
        await session.close(deadline)
    }

    nonisolated(nonsending) private func transact(
        _ session: FleetSession,
        _ store: any PostgresStore,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) {
        try await holder.refresh()
        var hasBegun = false
        let failure = await measuring {
            // A closure whose statement is never answered ends with its connection.
            await holder.supervise(onLoss: { [deadline] in await session.close(deadline) }) {
                for left in (0...Self.repetitions).reversed() {
                    try await session.asking(deadline) { session, _ in
                        try await session.requireNoTransaction()
                    }
                    hasBegun = true
                    do {
                        try await begin(session, store)
                        return try await SQLError.telling(type(of: session.db)) {
                            try await watching(session, body)
                        }
                    } catch {
                        guard left > 0, session.mayRepeat(after: error), !Task.isCancelled else {
                            throw error
                        }
                        try await session.asking(deadline) { session, _ in try await session.rollBack() }
                    }
                    try await clock.pause(.milliseconds(Int.random(in: 50...200)))
                }
            }
        }
        let loss = await holder.end()
        if let cause = failure ?? loss.map({ _ in CancellationError() }) {
            let end = hasBegun ? await session.rollingBack(after: cause, deadline) : cause
            if let loss { throw lost(loss, failure) }
            throw await noteEnd(end)
        }
        try await record(session, store)
    }

    /// Runs what is in a transaction, and closes its connection once the server has no process for it.
    ///
    /// Where the network or a primary is gone, a connection goes silent. Its statement would be waited for without end, and the
    /// lease renewed meanwhile.
    nonisolated(nonsending) func watching<Value>(
        _ session: FleetSession,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard let store = holder.stored.store as? any PostgresStore,
            type(of: session.db).dialect == .postgres,
            let process = try await process(of: session, store)
        else { return try await body() }
        let watch = Task { [clock, holder, deadline] in
            while !Task.isCancelled {
                do {
                    try await clock.alarm(holder.length)
                    let isThere = try await deadline.bound { try await store.hasProcess(process) }
                    if !isThere { return await session.close(deadline) }
                } catch {
                    // A store that can't be asked costs the lease.
                    continue
                }
            }
        }
        defer { watch.cancel() }
        return try await body()
    }

    /// The number of the server's process; `nil` where the store's server doesn't tell of it.
    nonisolated(nonsending) private func process(
        of session: FleetSession,
        _ store: any PostgresStore
    ) async throws -> SQLValue? {
        if tellsOfProcesses.withLock({ $0 }) == false { return .none }
        return try await session.asking(deadline) { [self] session, _ -> SQLValue? in
            let process = try await session.db.query("SELECT pg_backend_pid()::text").first?.first ?? .null
            if tellsOfProcesses.withLock({ $0 }) == true { return process }
            let isThere = try await store.hasProcess(process)
            tellsOfProcesses.withLock { $0 = isThere }
            // A value of SQL has a nil of its own.
            return isThere ? .some(process) : .none
        }
    }

    /// Begins the transaction, on another connection than the store's to the same database.
    nonisolated(nonsending) private func begin(
        _ session: FleetSession,
        _ store: any PostgresStore
    ) async throws {
        try await session.asking(deadline) { [holder] session, _ in
            try await session.begin(holder.length)
            if try await store.isInTransaction() { throw SQLError.connectionOfStore }
            let location = holder.stored.location
            guard let document = try await store.table.read(location.name, on: session.db),
                case let state = try MigrationState(document: document.bytes, at: location),
                holder.isOfThisHolder(state.marks.interruption?.lease)
            else { throw SQLError.otherDatabase }
        }
    }

    /// Writes the record in the transaction, and commits.
    nonisolated(nonsending) private func record(
        _ session: FleetSession,
        _ store: any PostgresStore
    ) async throws(MigrationError) {
        let (row, before, name) = (row, holder.state, holder.stored.location.name)
        let next = before.recording(row)
        let revision: FleetRevision?
        do {
            guard let document = next.writtenDocument else {
                let consequence: Message = "Migration \(context.version) was rolled back."
                throw MigrationError.tooLong(context.version, holder.stored.location, consequence)
            }
            revision = try await session.asking(deadline) { [holder, deadline] session, _ in
                try await session.requireTransaction(waitingForLocks: deadline.limit)
                return try await store.table.replace(
                    name,
                    at: holder.revision,
                    with: document,
                    isWaiting: true,
                    on: session.db
                )
            }
        } catch {
            throw await noteEnd(await session.rollingBack(after: error, deadline))
        }
        guard let revision else {
            let cause = await session.rollingBack(after: SQLError.otherDatabase, deadline)
            let found = try await uncancelled { [holder] () throws(MigrationError) in
                try await holder.stored.read()
            }
            if holder.isOfThisHolder(found.lease) { throw await note(cause) }
            throw lost(.taken(by: found.lease?.owner))
        }
        do {
            try await session.asking(deadline) { session, _ in _ = try await session.db.query("COMMIT") }
            holder.move(to: next, at: revision)
        } catch {
            let cause = await session.rollingBack(after: error, deadline)
            try await uncancelled { () throws(MigrationError) in
                try await self.settle(row, before, after: cause)
            }
        }
    }

    /// Finds out what became of a commit that wasn't answered.
    ///
    /// The server may still be at it. The note of the failure settles it: it waits for the document's row, and either finds the
    /// record there or takes the lease's revision, on which the record depended.
    private func settle(
        _ row: AppliedMigration,
        _ before: MigrationState,
        after cause: any Error
    ) async throws(MigrationError) {
        let (stored, version) = (holder.stored, context.version)
        let began = clock.uptime()
        // The state before the record, which was written in the transaction only.
        let ended = ended(by: cause, of: before)
        while true {
            let found: StoredState.Found
            do throws(MigrationError) { found = try await stored.read() } catch {
                throw .commitUnanswered(cause, version, stored.location, error)
            }
            if let state = found.state, state.history.contains(row) {
                return holder.move(to: state, at: found.revision ?? holder.revision)
            }
            guard holder.isOfThisHolder(found.lease) else {
                throw lost(.taken(by: found.lease?.owner), cause)
            }
            do throws(MigrationError) {
                let outcome = try await stored.save(ended, version, at: found.revision, else: "")
                if case .saved = outcome { throw failed(cause) }
            } catch {
                if error.code == .migrationFailed || error.code == .cancelled { throw error }
                throw .commitUnanswered(cause, version, stored.location, error)
            }
            if clock.uptime() - began >= holder.length {
                throw .commitUnanswered(cause, version, stored.location, nil)
            }
            await holder.pauseBriefly()
        }
    }

    /// Notes the failure of a transaction, which the server ends where its host sends nothing for the length of a lease.
    ///
    /// Not every client hands over why the server ended a connection.
    private func noteEnd(_ end: any Error) async -> MigrationError {
        let isGone = (end is RollbackFailure || end is Overdue) && row.duration >= holder.length
        let advice: Message = """
             The server ends a transaction in which no statement comes for the length of a lease: make leaseDuration longer, or do \
            other work before the transaction.
            """
        return await note(end, isGone ? advice : "")
    }
}
