extension Duration {
    /// How long a test waits for a lock that is not given back before: the real clock, since time-outs are in its time.
    package static var inVain: Duration { .milliseconds(5) }
}
