/// Says in the state which host of a fleet runs a migration, and that this host is still alive.
package struct Lease: Sendable {
    /// The host, the process and a random number.
    ///
    /// No other lease has the same owner.
    package let owner: String

    /// Rises each time the lease is renewed.
    package internal(set) var beat: Int

    /// Rises with each new lease of this state, whichever host takes it.
    package let fence: Int

    /// How long another host must see the state unchanged before it takes over.
    package let length: Duration

    package init(owner: String, beat: Int = 0, fence: Int, length: Duration) {
        self.owner = owner
        self.beat = beat
        self.fence = fence
        self.length = length
    }

    /// True if both are the same lease.
    ///
    /// It may have been renewed between them.
    package func isOfHolder(_ other: Lease) -> Bool {
        FilePaths.isSame(owner, other.owner) && fence == other.fence
    }
}
