/// The states that an attempt at a migration goes through, wherever they are kept.
extension MigrationState {
    /// The state with the intent of an attempt, which is saved before the closure changes anything.
    @inline(never)
    package func beginning(_ attempt: Interruption, minimumAppVersion: AppVersion) -> MigrationState {
        var intent = self
        intent.marks.launched = max(intent.marks.launched, attempt.appVersion)
        intent.marks.raiseFloor(to: minimumAppVersion)
        intent.marks.begin(attempt)
        return intent
    }

    /// The state with a checkpoint of the attempt that is under way.
    ///
    /// `saved` is where the attempt began, and `deaths` are those that were counted there. A closure that always begins at the
    /// start, passes the same places and dies is a crash loop.
    @inline(never)
    package func reaching(
        _ text: String,
        progress: Double?,
        in current: AppVersion,
        after saved: Checkpoint?,
        deaths: Int
    ) -> MigrationState {
        var next = self
        next.marks.interrupted?.checkpoint = Checkpoint(
            text: text,
            appVersion: current,
            progress: progress ?? marks.interrupted?.checkpoint?.progress
        )
        next.marks.interrupted?.deaths = saved.map { $0.isAt(text) } == true ? deaths : 0
        return next
    }

    /// The state after the closure threw.
    @inline(never)
    package func failing(_ failure: String) -> MigrationState {
        var ended = self
        // Scalars, since one character can hold any number of them, and the state has a limit of size.
        ended.marks.interrupted?.failure = String(failure.unicodeScalars.prefix(Self.failureLimit))
        return ended
    }
}
