extension StateMarks {
    /// What is known of the attempts at a pending version; the process that was interrupted in it counts as dead.
    package func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let interrupted, interrupted.version == version { return AttemptedMigration(interrupted) }
        return attempted.first { $0.version == version }
    }

    /// Notes a new attempt.
    ///
    /// The version interrupted before is still pending, so what is known of it is kept.
    mutating func begin(_ attempt: Interruption) {
        var known = attempted.filter { $0.version != attempt.version }
        if let interrupted, interrupted.version != attempt.version, !hasSpentSnapshot {
            known.removeAll { $0.version == interrupted.version }
            known.append(AttemptedMigration(interrupted))
        }
        attempted = known
        interrupted = attempt
    }

    /// Raises the mark to `version`; what is known of attempts at versions up to the mark goes.
    mutating func pass(_ version: AppVersion) {
        lastRun = max(lastRun, version)
        if let interrupted, interrupted.version <= lastRun { self.interrupted = nil }
        let mark = lastRun
        attempted = attempted.filter { $0.version > mark }
    }
}
