/// How an attempt ends: recorded, undone, taken back before its closure began, or without its lock.
extension MigrationAttempt {
    /// Records that the closure returned, or undoes what it did before it threw.
    func finish(_ failure: (any Error)?) throws(MigrationError) {
        do throws(MigrationError) {
            // The list's lock keeps other processes away until the state's is certain.
            defer { files?.endClaim() }
            try locked.takeAgain()
        } catch {
            throw lost(error, failure)
        }
        if let failure = failure ?? locked.reporter.rehearsal?.returned(version) { throw undo(failure) }
        do throws(SystemCallError) {
            // The record may not be more durable than the work.
            try files?.synchronizeWork()
        } catch {
            let path = error.path ?? location.directory
            throw try undone(.unsynchronized(path, underlying: error, "\(error)", location, version))
        }
        try record()
    }

    func record() throws(MigrationError) {
        let known = context.writer.began.known
        let row = AppliedMigration(
            known,
            after: context.previousVersion,
            at: Platform.now,
            in: duration ?? .zero
        )
        var recorded = intent.recording(row)
        if files != nil {
            // The migration stays the interrupted one until its snapshot is gone, so that every start looks for it.
            recorded.marks.interruption = intent.marks.interruption
            recorded.marks.interruption?.isProtecting = false
        }
        context.reach(.beforeRecord)
        if let failure = locked.note(recorded) {
            if locked.isLost { throw lost(failure, nil) }
            if locked.isUncertain {
                throw failure.adding(
                    "Migration \(version) ran; after a power failure it may run again.",
                    version: version
                )
            }
            throw try undone(failure.adding("Migration \(version) ran and will run again.", version: version))
        }
        context.reach(.afterRecord)
        if files != nil, locked.discardSnapshot(version) { locked.forgetSnapshot() }
    }

    /// The error of a closure that ended without its lock: nothing of it is recorded or put back.
    ///
    /// Where the closure protects files, the state may list them, so the error is one that forbids writing to them.
    private func lost(_ loss: MigrationError, _ failure: (any Error)?) -> MigrationError {
        let ending: Message = failure == nil ? "ran" : "failed"
        let kept: Message =
            files == nil
            ? "."
            : """
            , and the files it protects were left as they are. The next start puts them back if the state lists them. \
            Don't write to those files before it succeeded.
            """
        let error = loss.adding(
            "Migration \(version) \(ending) and that was not recorded\(kept)",
            code: files != nil ? .protectionFailed : .stateNotSaved,
            version: version
        )
        return if let failure { error.following(failure) } else { error }
    }

    /// This error of a closure that returned, once its files are put back.
    private func undone(_ failure: MigrationError) throws(MigrationError) -> MigrationError {
        do throws(MigrationError) {
            let restored = try putBack(failure)
            return restored.isEmpty ? failure : failure.adding("\(restored)")
        } catch {
            throw error.following(failure)
        }
    }

    private func undo(_ cause: any Error) -> MigrationError {
        do throws(MigrationError) {
            let consequence = try putBack(cause)
            return .failed(
                version,
                attempt: context.attempt,
                cause,
                location,
                consequence: consequence.isEmpty ? "" : " \(consequence)"
            )
        } catch {
            return error.following(cause)
        }
    }

    /// Puts the protected files back, and saves how the attempt ended; gives a sentence about it for the error.
    private func putBack(_ failure: any Error) throws(MigrationError) -> String {
        let ended = intent.failing(failure)
        guard files != nil else {
            let isNoted = locked.note(ended) == nil
            return isNoted ? "" : "The attempt could not be noted either and counts as a death."
        }
        do throws(MigrationError) {
            try locked.restore(version)
        } catch {
            _ = locked.note(ended)
            throw error
        }
        try locked.finishRestore(ended)
        return "The protected files are what they were before it."
    }

    /// The error for an intent whose save failed.
    ///
    /// The intent may stand all the same. Then it is taken back: nothing was run, the app goes on with its files, and the next
    /// start would put the copies over what the app wrote.
    func withdraw(_ failure: MigrationError) -> MigrationError {
        files?.endClaim()
        if locked.isUncertain, let second = locked.note(before), files != nil {
            return location.protection(.withdrawing, version, after: second)
        }
        if files != nil { locked.discardSnapshot(version) }
        return failure.adding("Migration \(version) was not run.", version: version)
    }
}
