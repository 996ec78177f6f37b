internal import AppMigrations

/// The right of one host to run a migration.
///
/// The host renews it to show that it is still alive.
struct Lease: Sendable, Equatable {
    /// Identifies the lease's holder by its host, its process and a random number.
    ///
    /// Each lease gets a new random number, so no two leases have the same value here.
    let owner: String

    /// The heartbeat counter, which increases each time the lease is renewed.
    var beat = 0

    /// The fencing token.
    ///
    /// Each new lease of this state gets a higher number, no matter which host takes it.
    let fence: Int

    /// How long the state must stay unchanged before another host may take over.
    let length: Duration

    /// True if `other` is the same lease.
    ///
    /// `beat` is not compared. The two values may have been read at different times, and the lease may have
    /// been renewed in between.
    func isSameLease(as other: Lease) -> Bool {
        FilePaths.isSame(owner, other.owner) && fence == other.fence
    }
}

/// The member `lease` of a state in the store, which the core doesn't know.
struct LeaseRecord: Sendable, Equatable {
    /// The fencing token of the latest lease that a host has taken; zero if none did.
    ///
    /// It stays when the lease ends, so that the next lease gets a higher token.
    let fence: Int

    /// The lease; `nil` if it has ended.
    let lease: Lease?

    private static var key: String { "lease" }

    /// The record of a lease.
    init(_ lease: Lease) {
        fence = lease.fence
        self.lease = lease
    }

    /// The record after a lease with the given token has ended.
    init(endedWithFence fence: Int) {
        self.fence = fence
        lease = nil
    }

    /// Reads the record of a state.
    ///
    /// A lease belongs to an attempt that is running. If the state has none, for example after an operator
    /// has reset it with SQL, the lease has ended.
    init(of state: MigrationState, at location: StateLocation) throws(MigrationError) {
        do throws(JSONError) {
            try self.init(of: state)
        } catch {
            throw .corrupted(location, because: error)
        }
    }

    private init(of state: MigrationState) throws(JSONError) {
        guard let member = state.otherMembers.first(where: { $0.key == Self.key }) else {
            self.init(endedWithFence: 0)
            return
        }
        let object = try JSON.read(Array("{".utf8) + member.text + Array("}".utf8))
        guard let json = try object.member(Self.key) else { throw object.expected("a lease") }
        let fence = try json.member("fence")?.count() ?? 0
        let isRunning = state.versions.latestAttempt.map { $0.failure == nil } ?? false
        guard isRunning, let owner = try json.member("owner")?.string() else {
            self.init(endedWithFence: fence)
            return
        }
        guard let beat = try json.member("beat")?.count(), let length = try json.member("length")?.duration()
        else {
            throw json.expected("the members \("beat".quoted) and \("length".quoted) with the owner")
        }
        self.init(Lease(owner: owner, beat: beat, fence: fence, length: length))
    }

    /// Writes this record into a state.
    func write(to state: inout MigrationState) {
        let json = JSON.object([
            ("fence", JSON.count(fence)),
            ("owner", lease?.owner.quoted),
            ("beat", lease.map { JSON.count($0.beat) }),
            ("length", lease.map { JSON.seconds($0.length) }),
        ])
        let text = "\(Self.key.quoted) : \(json)"
        state.otherMembers.removeAll { $0.key == Self.key }
        state.otherMembers.append(MigrationState.OtherMember(key: Self.key, text: Array(text.utf8)))
    }
}
