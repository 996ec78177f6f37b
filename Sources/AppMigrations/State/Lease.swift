/// The right of one host to run a migration, if several hosts share the data (a fleet).
///
/// It is a part of the state. The host renews it to show that it is still alive.
package struct Lease: Sendable {
    /// Identifies the lease's holder by its host, its process and a random number.
    ///
    /// Each lease gets a new random number, so no two leases have the same value here.
    package let owner: String

    /// The heartbeat counter, which increases each time the lease is renewed.
    package internal(set) var beat: Int

    /// The fencing token.
    ///
    /// Each new lease of this state gets a higher number, no matter which host takes it.
    package let fence: Int

    /// How long the state must stay unchanged before another host may take over.
    package let length: Duration

    package init(owner: String, beat: Int = 0, fence: Int, length: Duration) {
        self.owner = owner
        self.beat = beat
        self.fence = fence
        self.length = length
    }

    /// True if `other` is the same lease.
    ///
    /// `beat` is not compared. The two values may have been read at different times, and the lease may have
    /// been renewed in between.
    package func isSameLease(as other: Lease) -> Bool {
        FilePaths.isSame(owner, other.owner) && fence == other.fence
    }
}
