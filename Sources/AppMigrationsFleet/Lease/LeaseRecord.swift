internal import AppMigrations

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
