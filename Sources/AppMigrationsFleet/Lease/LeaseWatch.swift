package import AppMigrations

/// Judges by this host's own clock whether a lease has run out: once one revision was seen for the lease's length.
///
/// A revision comes never again, so between two looks that gave the same one the holder hasn't renewed.
package struct LeaseWatch {
    private var revision: FleetRevision?
    private var since = Duration.zero

    package init() {}

    /// Takes down what a look gave, and says whether the holder has let its lease run out.
    ///
    /// `asked` is the time before the store was asked, `answered` the time at which the answer was there.
    package mutating func hasRunOut(
        _ lease: Lease,
        at revision: FleetRevision?,
        asked: Duration,
        answered: Duration
    ) -> Bool {
        if let revision, self.revision == revision { return asked - since >= lease.length }
        self.revision = revision
        since = answered
        return false
    }
}
