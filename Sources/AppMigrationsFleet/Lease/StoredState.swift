internal import AppMigrations
internal import AppMigrationsSQL

/// The state of one manager in a store.
final class StoredState: Sendable {
    let location: StateLocation
    let store: any FleetStore
    /// Half a lease for each call.
    let deadline: Deadline
    /// The lease of another host, as the reads have seen it.
    private let watch = Guarded(LeaseWatch())

    /// The text in the store at one moment.
    struct Found: Sendable {
        /// `nil` where there is no document, or the state was forgotten.
        var state: MigrationState?
        /// `nil` where there is no document.
        var revision: FleetRevision?
        /// The number of the last lease, also of a state that was forgotten.
        var fence = 0
        /// True if a lease stands, by all that this host has seen.
        var isHeld = false

        var lease: Lease? { state?.marks.interruption?.lease }

        /// Whom a wait is for, for people to read.
        var holder: String { lease?.owner ?? "another host" }
    }

    enum Outcome: Sendable {
        case saved(FleetRevision)
        /// Another document stands there, or the same one could not be replaced now.
        case refused(Found)
    }

    init(_ location: StateLocation, _ store: any FleetStore, _ deadline: Deadline) {
        (self.location, self.store, self.deadline) = (location, store, deadline)
    }

    /// Reads the state, and says whether a lease stands in it.
    nonisolated(nonsending) func read(within limit: Duration? = nil) async throws(MigrationError) -> Found {
        let asked = deadline.clock.awake()
        let document: FleetDocument?
        do throws(MigrationError) { document = try await self.document(within: limit) } catch {
            // A server that comes up again may have forgotten a renewal, so the lease is watched for its whole length anew.
            if error.code == .stateUnreadable { watch.withLock { $0 = LeaseWatch() } }
            throw error
        }
        let answered = deadline.clock.awake()
        var found = try found(document)
        if let lease = found.lease {
            found.isHeld = watch.withLock {
                !$0.hasRunOut(lease, at: found.revision, asked: asked, answered: answered)
            }
        }
        return found
    }

    /// The text of the store, byte for byte.
    nonisolated(nonsending) func document(
        within limit: Duration? = nil
    ) async throws(MigrationError) -> FleetDocument? {
        do {
            return try await deadline.bound(limit) { [self] in try await store.read(location.name) }
        } catch {
            let consequence: Message = "Nothing was run or written."
            if error is CancellationError || Task.isCancelled {
                throw .cancelled("while \(location) was read", location, nil, consequence, error)
            }
            throw .unreadable(error, location, consequence)
        }
    }

    /// The marks in a document; `nil` where it has to be read in full, as that of a fresh install or a forgotten state.
    func marks(_ document: FleetDocument) -> StateMarks? {
        let marks = document.bytes.withUnsafeBufferPointer { StateHead.read($0, name: location.name) }
        return marks?.lastRun == .zero ? nil : marks
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
    /// A store that throws may have written, and one that refuses may have met its own first try. So both are followed by a look.
    nonisolated(nonsending) func save(
        _ state: MigrationState,
        _ version: AppVersion? = nil,
        at revision: FleetRevision?,
        within limit: Duration? = nil,
        else consequence: Message
    ) async throws(MigrationError) -> Outcome {
        guard let bytes = state.writtenDocument else { throw .tooLong(version, location, consequence) }
        do {
            return try await deadline.bound(limit) { [self] in
                var failure: (any Error)?
                do {
                    if let saved = try await store.replace(location.name, at: revision, with: bytes) {
                        return .saved(saved)
                    }
                } catch {
                    failure = error
                }
                let document = try await store.read(location.name)
                if let document, document.bytes == bytes { return .saved(document.revision) }
                let found = try found(document)
                guard let failure, found.revision == revision else { return .refused(found) }
                throw MigrationError.notSaved(failure, version, location, consequence)
            }
        } catch {
            if let error = error as? MigrationError { throw error }
            let unknown: Message = "Whether the state was saved is not known. \(consequence)"
            if Task.isCancelled {
                throw .cancelled("while \(location) was saved", location, version, unknown, error)
            }
            throw .unreadable(error, location, unknown)
        }
    }

    /// Saves the intent of a claim over the state that stood at a revision, within one deadline, also in a cancelled task.
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
        let end = deadline.clock.uptime() + deadline.limit
        do throws(MigrationError) {
            return try await uncancelled { [self] () async throws(MigrationError) in
                do throws(MigrationError) {
                    return try await save(intent, version, at: revision, else: consequence)
                } catch {
                    if error.code != .stateNotSaved || error.underlyingError == nil { throw error }
                    // Take out a lease that has run out as well: its holder would go on with a lower fence than the document's.
                    let void = state.voiding(intent.fence)
                    let left = end - deadline.clock.uptime()
                    let outcome = try await save(void, version, at: revision, within: left, else: consequence)
                    if case .saved = outcome { throw error }
                    return outcome
                }
            }
        } catch {
            if !Task.isCancelled { throw error }
            let moment: Message = "while the lease of \(location) was taken"
            throw .cancelled(moment, location, version, consequence, error)
        }
    }

    /// Leaves a document that stands for no state, since a store has no way to remove one.
    ///
    /// The number of the last lease stays in it: a fence that began again would be refused for good by what remembers it.
    func forget(_ found: Found) async throws(MigrationError) -> Outcome {
        let nothing = MigrationState(
            location.name,
            .nothing,
            unknownMembers: Self.forgotten,
            fence: found.fence
        )
        return try await save(nothing, at: found.revision, else: "The state was not forgotten.")
    }

    private static var forgotten: [UInt8] { Array("  \"forgotten\" : true,\n".utf8) }

    /// The server's process whose open transaction has the row of the document, for people to read; `nil` where none has.
    func blocker(within limit: Duration? = nil) async -> String? {
        guard let store = store as? any PostgresStore else { return nil }
        do {
            let rows = try await deadline.bound(limit) { [location] in
                try await store.ask(store.table.blocker, [.text(location.name)])
            }
            guard case .text(let process) = rows.first?.first else { return nil }
            return "the open transaction of the server's process \(process)"
        } catch {
            return "a transaction whose process can't be asked for: \(MigrationError.sentence(error))"
        }
    }
}
