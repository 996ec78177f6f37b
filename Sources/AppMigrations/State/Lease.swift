/// Says in the state which host of a fleet runs the interrupted migration, and that it still does.
package struct Lease: Equatable, Sendable {
    /// The host, the process and a random number, which no other holder has.
    package let owner: String
    /// Rises with each renewal.
    package var beat: Int
    /// Rises with each lease of this state, whoever holds it.
    package let fence: Int
    /// How long a host that waits has to see the state unchanged before it takes over.
    package let length: Duration

    package init(owner: String, beat: Int, fence: Int, length: Duration) {
        self.owner = owner
        self.beat = beat
        self.fence = fence
        self.length = length
    }

    /// Whether the two are of one attempt, whatever the beat.
    package func isOfHolder(_ other: Lease) -> Bool {
        owner.utf8.elementsEqual(other.owner.utf8) && fence == other.fence
    }
}
