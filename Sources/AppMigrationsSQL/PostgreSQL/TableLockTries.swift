/// How long each try of a script waits for the lock of a table, and how long the script pauses between two
/// tries.
///
/// In PostgreSQL, while a statement waits for an exclusive lock of a table, every later statement that needs
/// the table waits behind it, even one that only reads. So a try is short, and the pauses between tries grow.
package struct TableLockTries {
    /// The part of the lock timeout that is not used up.
    private var left: Duration
    private var nextPause = Duration.seconds(1)

    private static var longestWait: Duration { .seconds(1) }
    private static var longestPause: Duration { .seconds(8) }

    package init(within lockTimeout: Duration) { left = lockTimeout }

    /// How long the next try waits for a table.
    package var wait: Duration { min(Self.longestWait, left) }

    /// Ends a try in which the table stayed locked, takes its time and the pause off the lock timeout, and
    /// returns the pause before the next try.
    ///
    /// - Returns: `nil` if the lock timeout is used up. The last pause is short enough to leave time for one
    ///   more try.
    package mutating func pauseAfterTry() -> Duration? {
        left -= wait
        if left <= .zero { return nil }
        let pause = max(.zero, min(nextPause, left - Self.longestWait))
        left -= pause
        nextPause = min(nextPause * 2, Self.longestPause)
        return pause
    }
}
