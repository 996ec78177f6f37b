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
