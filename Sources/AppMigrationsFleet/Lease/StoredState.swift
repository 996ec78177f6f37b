internal import AppMigrations

/// The state of one manager in a store.
struct StoredState: Sendable {
    let location: StateLocation
    let store: any FleetStore
    /// Half a lease for each call.
    let deadline: Deadline

    /// The text in the store at one moment.
    struct Found: Sendable {
        /// `nil` where there is no document, or the state was forgotten.
        var state: MigrationState?
        /// `nil` where there is no document.
        var revision: FleetRevision?
        /// The number of the last lease, also of a state that was forgotten.
        var fence = 0

        var lease: Lease? { state?.marks.interruption?.lease }
    }

    enum Outcome: Sendable {
        case saved(FleetRevision)
        /// Another document stands there, or the same one could not be replaced now.
        case refused(Found)
    }

    nonisolated(nonsending) func read(within limit: Duration? = nil) async throws(MigrationError) -> Found {
        try found(await document(within: limit))
    }

    /// The text of the store, byte for byte.
    nonisolated(nonsending) func document(
        within limit: Duration? = nil
    ) async throws(MigrationError) -> FleetDocument? {
        do {
            return try await deadline.bound(limit) { [store, location] in try await store.read(location.name)
            }
        } catch {
            if error is CancellationError || Task.isCancelled { throw .cancelledReading(error, location) }
            throw .unreadable(error, location, "Nothing was run or written.")
        }
    }

    func found(_ document: FleetDocument?) throws(MigrationError) -> Found {
        guard let document else { return Found() }
        let state = try MigrationState(document: document.bytes, at: location)
        // However somebody has laid the text out since.
        let isForgotten = state.unknownMembers.filter { $0 > 0x20 } == Self.forgotten.filter { $0 > 0x20 }
        return Found(
            state: isForgotten ? nil : state,
            revision: document.revision,
            fence: max(state.fence, state.marks.interruption?.lease?.fence ?? 0)
        )
    }

    /// Replaces what stood at a revision.
    ///
    /// A store that throws doesn't say whether it wrote, and one that refuses may have written in a first try of its own that it
    /// took for lost. So both are followed by a look.
    func save(
        _ state: MigrationState,
        _ version: AppVersion? = nil,
        at revision: FleetRevision?,
        within limit: Duration? = nil,
        else consequence: Message
    ) async throws(MigrationError) -> Outcome {
        guard let document = state.writtenDocument else {
            throw .tooLong(version, location, consequence)
        }
        do {
            return try await deadline.bound(limit) {
                try await save(document, version, at: revision, else: consequence)
            }
        } catch {
            if let error = error as? MigrationError { throw error }
            throw .unreadable(error, location, "Whether the state was saved is not known. \(consequence)")
        }
    }

    /// Saves the intent of a claim over the state that stood at a revision.
    ///
    /// Where that failed the store may still be at it. The lease would stand then with nobody to renew it, and the next host take a
    /// closure that was never called for a death. So the revision is moved on, without a lease.
    func save(
        claiming intent: MigrationState,
        over state: MigrationState,
        _ version: AppVersion,
        at revision: FleetRevision?
    ) async throws(MigrationError) -> Outcome {
        let consequence: Message = "Migration \(version) was not run."
        return try await uncancelled { () throws(MigrationError) in
            do throws(MigrationError) {
                return try await save(intent, version, at: revision, else: consequence)
            } catch {
                if error.code != .stateNotSaved || error.underlyingError == nil { throw error }
                var void = state
                void.fence = intent.fence
                // One that has run out: its holder would go on under a lower fence than the document's.
                void.marks.interruption?.lease = nil
                let outcome = try await save(void, version, at: revision, else: consequence)
                if case .saved = outcome { throw error }
                return outcome
            }
        }
    }

    /// Leaves a document that stands for no state, since a store has no way to remove one.
    ///
    /// The number of the last lease stays in it: a fence that began again would be refused for good by what remembers it.
    func forget(_ found: Found) async throws(MigrationError) -> Outcome {
        let marks = StateMarks(lastRun: .zero, baseline: .zero, launched: .zero)
        var nothing = MigrationState(location.name, marks)
        nothing.unknownMembers = Self.forgotten
        nothing.fence = found.fence
        return try await save(nothing, at: found.revision, else: "The state was not forgotten.")
    }

    private static var forgotten: [UInt8] { Array("  \"forgotten\" : true,\n".utf8) }

    private func save(
        _ bytes: [UInt8],
        _ version: AppVersion?,
        at revision: FleetRevision?,
        else consequence: Message
    ) async throws(MigrationError) -> Outcome {
        var failure: (any Error)?
        do {
            if let saved = try await store.replace(location.name, at: revision, with: bytes) {
                return .saved(saved)
            }
        } catch {
            failure = error
        }
        let document: FleetDocument?
        do { document = try await store.read(location.name) } catch {
            throw .unreadable(error, location, "Whether the state was saved is not known. \(consequence)")
        }
        if let document, document.bytes == bytes { return .saved(document.revision) }
        let found = try found(document)
        if let failure, found.revision == revision {
            throw .notSaved(failure, version, location, consequence)
        }
        return .refused(found)
    }
}
