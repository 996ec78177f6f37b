internal import AppMigrations
internal import AppMigrationsPostgreSQL
internal import AppMigrationsSQL

/// An attempt whose record is written in the transaction of its closure.
extension FleetAttempt {
    /// How often a closure is called again that met a deadlock or a serialization failure.
    private static var repetitions: Int { 3 }

    private var store: any PostgresStore {
        get throws(SQLError) {
            guard let store = holder.stored.store as? any PostgresStore else { throw .otherDatabase }
            return store
        }
    }

    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in connect: nonisolated(nonsending) @escaping () async throws -> Connection,
        _ body: nonisolated(nonsending) (Connection) async throws -> Void
    ) async throws(MigrationError) {
        var (hasBegun, settings) = (false, [SQLValue]())
        let (session, failure) = await connected(by: connect) { db, session in
            if Connection.dialect != .postgres { throw SQLError.otherDatabase }
            for left in (0...Self.repetitions).reversed() {
                try await session.asking(deadline) { session, _ in
                    try await session.requireNoTransaction()
                }
                hasBegun = true
                do {
                    settings = try await begin(session)
                    return try await SQLError.telling(Connection.self) {
                        try await watching(session) { try await body(db) }
                    }
                } catch {
                    let state = (error as? SQLError)?.sqlState
                    guard left > 0, SQLError.isOfConcurrency(state), !Task.isCancelled else { throw error }
                    try await session.asking(deadline) { session, _ in try await session.rollBack() }
                }
                try await clock.pause(.milliseconds(Int.random(in: 50...200)))
            }
        }
        do throws(MigrationError) {
            try await end(session, hasBegun: hasBegun, settings, failure)
        } catch {
            await session?.close(deadline)
            throw error
        }
        await session?.close(deadline)
    }

    nonisolated(nonsending) private func end(
        _ session: FleetSession?,
        hasBegun: Bool,
        _ settings: [SQLValue],
        _ failure: (any Error)?
    ) async throws(MigrationError) {
        let loss = await holder.end()
        guard let session, failure == nil, loss == nil else {
            let cause = failure ?? CancellationError()
            let isGone = hasBegun ? await session?.isGone(after: cause, deadline) == true : false
            if let loss { throw lost(loss, failure) }
            throw await noteEnd(cause, isGone: isGone)
        }
        try await record(session, settings)
    }

    /// Runs what is in a transaction, and closes its connection once the server has no process for it.
    ///
    /// Where the network or a primary is gone, a connection goes silent. Its statement would be waited for without end, and the
    /// lease renewed meanwhile.
    nonisolated(nonsending) func watching<Value>(
        _ session: FleetSession,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard type(of: session.db).dialect == .postgres,
            let store = holder.stored.store as? any PostgresStore,
            let process = try await process(of: session, store)
        else { return try await body() }
        let isGone = Guarded(false)
        let watch = Task { [clock, holder, deadline] in
            while !Task.isCancelled {
                do {
                    try await clock.timer(holder.length)
                    let isThere = try await deadline.bound { try await store.hasProcess(process) }
                    if isThere { continue }
                    isGone.withLock { $0 = true }
                    // A client may answer nothing on a connection that is closed, and end with its task alone.
                    holder.progress.withLock { $0.calling }?.cancel()
                    return await session.close(deadline)
                } catch {
                    // A store that can't be asked costs the lease.
                    continue
                }
            }
        }
        defer { watch.cancel() }
        do { return try await body() } catch {
            guard error is CancellationError, isGone.withLock({ $0 }) else { throw error }
            throw SQLError(.closed, "The server has no process for the connection any more")
        }
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

    /// Begins the transaction, on another connection than the store's to the same database; gives the settings of its session.
    nonisolated(nonsending) private func begin(_ session: FleetSession) async throws -> [SQLValue] {
        let store = try store
        return try await session.asking(deadline) { [holder] session, _ in
            let settings = try await session.begin(holder.length)
            let mark = try await store.ask(FleetSession.asksForMark, [])
            if mark == [["open"]] { throw SQLError.connectionOfStore }
            let location = holder.stored.location
            guard let document = try await store.table.read(location.name, on: session.db),
                case let state = try MigrationState(document: document.bytes, at: location),
                holder.isOfThisHolder(state.marks.interruption?.lease)
            else { throw SQLError.otherDatabase }
            return settings
        }
    }

    /// Writes the record in the transaction, and commits.
    nonisolated(nonsending) private func record(
        _ session: FleetSession,
        _ settings: [SQLValue]
    ) async throws(MigrationError) {
        let (row, before) = (row, holder.state)
        let next = before.recording(row)
        let revision: FleetRevision?
        do {
            guard let document = next.writtenDocument else {
                let consequence: Message = "Migration \(context.version) was rolled back."
                throw MigrationError.tooLong(context.version, holder.stored.location, consequence)
            }
            let store = try store
            revision = try await session.asking(deadline) { [holder, deadline] session, _ in
                // The server says before the deadline why there is no answer.
                try await session.requireTransaction(settings, waitingForLocks: deadline.limit * 3 / 4)
                return try await store.table.replace(
                    holder.stored.location.name,
                    at: holder.revision,
                    with: document,
                    isWaiting: true,
                    on: session.db
                )
            }
        } catch {
            throw await noteEnd(error, isGone: await session.isGone(after: error, deadline))
        }
        guard let revision else {
            _ = await session.isGone(after: SQLError.otherDatabase, deadline)
            let found = try await uncancelled { [holder] () throws(MigrationError) in
                try await holder.stored.read()
            }
            if holder.isOfThisHolder(found.lease) { throw await note(SQLError.otherDatabase) }
            throw lost(.taken(by: found.lease?.owner))
        }
        do {
            try await session.asking(deadline) { session, _ in _ = try await session.db.query("COMMIT") }
            holder.move(to: next, at: revision)
        } catch {
            _ = await session.isGone(after: error, deadline)
            try await uncancelled { () throws(MigrationError) in
                try await self.settle(row, before, after: error)
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
        let ended = before.failing(cause)
        while true {
            do throws(MigrationError) {
                let found = try await stored.read()
                if let state = found.state, state.history.contains(row) {
                    return holder.move(to: state, at: found.revision ?? holder.revision)
                }
                guard holder.isOfThisHolder(found.lease) else {
                    throw lost(.taken(by: found.lease?.owner), cause)
                }
                let outcome = try await stored.save(ended, version, at: found.revision, else: "")
                if case .saved = outcome { throw failed(cause) }
            } catch {
                if [.leaseLost, .migrationFailed].contains(error.code) { throw error }
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
    private func noteEnd(_ cause: any Error, isGone: Bool) async -> MigrationError {
        if isGone, row.duration >= holder.length {
            return await note(
                cause,
                """
                 The server ends a transaction in which no statement comes for the length of a lease: make leaseDuration longer, or \
                do other work before the transaction.
                """
            )
        }
        // lock_not_available
        let isLocked = (cause as? SQLError)?.sqlState == "55P03"
        let blocker = isLocked ? await holder.stored.blocker() : nil
        return await note(cause, blocker.map { " The row of the state waits for \($0)." } ?? "")
    }
}

extension PostgresStore {
    /// True if the server has the process of a connection.
    fileprivate func hasProcess(_ number: SQLValue) async throws -> Bool {
        try await !ask("SELECT 1 FROM pg_stat_activity WHERE pid::text = $1", [number]).isEmpty
    }
}
