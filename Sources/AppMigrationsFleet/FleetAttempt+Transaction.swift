internal import AppMigrations
internal import AppMigrationsSQL

/// An attempt whose record is written in the transaction of its closure.
extension FleetAttempt {
    /// How the transaction ended.
    private enum Ending {
        case committed
        case rolledBack(any Error)
        /// Rolled back, since the document is not what this host has written.
        case displaced(any Error)
        case lost(LeaseLoss, any Error)
        /// The commit was not answered.
        case unanswered(any Error, AppliedMigration, MigrationState)

        var cause: (any Error)? {
            switch self {
            case .committed: nil
            case .rolledBack(let cause), .displaced(let cause), .lost(_, let cause),
                .unanswered(let cause, _, _):
                cause
            }
        }
    }

    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in db: Connection,
        _ body: nonisolated(nonsending) (Connection) async throws -> Void
    ) async throws(MigrationError) {
        guard let store = holder.stored.store as? any SQLBackedFleetStore,
            store.statements.speaks(Connection.dialect)
        else {
            _ = await holder.end()
            throw await note(SQLError.otherDatabase)
        }
        let session = SQLFleetSession(db: db, statements: store.statements)
        guard store.mayUse(db) else {
            let ending = await transact(session, isShared: false) {
                await holder.supervise { try await body(db) }
            }
            return try await settle(ending, in: store)
        }
        // Another manager of this store would write into the transaction, and lose that where it is rolled back.
        await store.turns.enter()
        let mark = FleetTransaction(turns: store.turns, version: context.version.description)
        let ending = await transact(session, isShared: true) {
            await FleetTransaction.$current.withValue(mark) {
                do {
                    try await body(db)
                    return nil
                } catch {
                    return error
                }
            }
        }
        store.turns.leave()
        try await settle(ending, in: store)
    }

    nonisolated(nonsending) private func transact(
        _ session: SQLFleetSession<some AsyncSQLConnection>,
        isShared: Bool,
        _ body: nonisolated(nonsending) () async -> (any Error)?
    ) async -> Ending {
        do {
            try await session.begin()
        } catch {
            _ = await holder.end()
            return .rolledBack(error)
        }
        do {
            let isThere = try await isShared ? lockDocument(session) : seesDocument(session)
            if !isThere {
                _ = await holder.end()
                return .displaced(await session.rollingBack(after: SQLError.otherDatabase))
            }
            let failure = await measuring(body)
            if let loss = await holder.end() {
                return .lost(loss, await session.rollingBack(after: failure ?? CancellationError()))
            }
            if let failure { throw failure }
            try await session.requireTransaction()
            let row = row
            let before = holder.state
            guard try await write(before.recording(row), session) else {
                return .displaced(await session.rollingBack(after: SQLError.otherDatabase))
            }
            do {
                try await session.commit()
                return .committed
            } catch {
                return .unanswered(await session.rollingBack(after: error), row, before)
            }
        } catch {
            _ = await holder.end()
            return .rolledBack(await session.rollingBack(after: error))
        }
    }

    /// Writes the document in the transaction, whose row no other host changes then until the transaction ends.
    nonisolated(nonsending) private func lockDocument(
        _ session: SQLFleetSession<some AsyncSQLConnection>
    ) async throws -> Bool {
        var next = holder.state
        next.marks.interruption?.lease?.beat += 1
        return try await write(next, session)
    }

    nonisolated(nonsending) private func write(
        _ state: MigrationState,
        _ session: SQLFleetSession<some AsyncSQLConnection>
    ) async throws -> Bool {
        let location = holder.stored.location
        guard let document = state.writtenDocument else {
            throw MigrationError.tooLong(
                context.version,
                location,
                "Migration \(context.version) was rolled back."
            )
        }
        let revision = try await session.statements.replace(
            location.name,
            at: holder.revision,
            with: document,
            on: session.db
        )
        guard let revision else { return false }
        holder.move(to: state, at: revision)
        return true
    }

    /// Whether the document with this host's lease is what the connection sees.
    nonisolated(nonsending) private func seesDocument(
        _ session: SQLFleetSession<some AsyncSQLConnection>
    ) async throws -> Bool {
        let location = holder.stored.location
        let document = try await session.statements.read(location.name, on: session.db)
        guard let document else { return false }
        let state = try MigrationState(document: document.bytes, at: location)
        return holder.isOfThisHolder(state.marks.interruption?.lease)
    }

    /// Settles in a task of its own, which isn't cancelled with the caller's.
    ///
    /// Many a store is not read in a cancelled task. A commit that was cut off would stay unknown, and its lease count as a death.
    private func settle(
        _ ending: Ending,
        in store: any SQLBackedFleetStore
    ) async throws(MigrationError) {
        if case .committed = ending { return }
        let task = Task { () async -> Result<Void, MigrationError> in
            do throws(MigrationError) {
                return .success(try await settleUncancelled(ending, in: store))
            } catch {
                return .failure(error)
            }
        }
        try await task.value.get()
    }

    private func settleUncancelled(
        _ ending: Ending,
        in store: any SQLBackedFleetStore
    ) async throws(MigrationError) {
        try await leaveTransaction(ending, in: store)
        switch ending {
        case .committed: return
        case .rolledBack(let cause): throw await note(cause)
        case .lost(let loss, let cause): throw lost(loss, cause)
        case .displaced(let cause):
            let found = try await holder.stored.read()
            if holder.isOfThisHolder(found.lease) { throw await note(cause) }
            throw lost(.taken(by: found.lease?.owner))
        case .unanswered(let cause, let row, let before): try await settle(row, before, after: cause)
        }
    }

    /// Rolls back once more where that failed.
    ///
    /// The store's connection may be in the transaction still. It would read what nobody has committed, and a lease that it takes
    /// there ends with the connection, so that another host gets the same fence.
    private func leaveTransaction(
        _ ending: Ending,
        in store: any SQLBackedFleetStore
    ) async throws(MigrationError) {
        guard let cause = ending.cause as? RollbackFailure else { return }
        do {
            try await store.rollBack()
        } catch {
            switch ending {
            case .committed: return
            case .unanswered:
                let second = MigrationError.unreadable(error, holder.stored.location, "")
                throw .commitUnanswered(cause, context.version, holder.stored.location, second)
            case .lost(let loss, _): throw lost(loss, cause)
            case .rolledBack, .displaced:
                throw failed(cause, " The attempt could not be noted either and counts as a death.")
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
            do throws(MigrationError) {
                found = try await stored.read()
            } catch {
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
}
