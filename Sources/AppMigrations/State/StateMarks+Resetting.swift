extension StateMarks {
    package mutating func resetAttempts() {
        attempted = attempted.map {
            var known = $0
            known.deaths = 0
            return known
        }
        guard var interrupted else { return }
        interrupted.deaths = 0
        // Without a failure the last process counts as dead.
        interrupted.failure = interrupted.failure ?? "Its process died; resetAttempts() was called since."
        self.interrupted = interrupted
    }
}
