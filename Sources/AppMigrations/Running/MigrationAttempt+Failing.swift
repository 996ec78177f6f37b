/// The attempts that end before their closure began, or without their lock.
extension MigrationAttempt {
    /// The error for an intent whose save failed.
    ///
    /// The intent may stand all the same. Then it is taken back: nothing was run, the app goes on with its files, and the next
    /// start would put the copies over what the app wrote.
    func withdraw(_ failure: SaveFailure) -> MigrationError {
        files?.endClaim()
        var failure = failure
        if failure.isRenamed {
            if let second = locked.note(before) {
                if files != nil { return location.protection(.withdrawing, version, second) }
            } else {
                failure = SaveFailure(cause: failure.cause, isRenamed: false)
            }
        }
        if files != nil { locked.discardSnapshot(version) }
        return .notSaved(failure, version, location, consequence: "Migration \(version) was not run.")
    }

    /// The error of a closure that ended without its lock: nothing of it is recorded or put back.
    ///
    /// Where the closure protects files, the state may list them, so the error is one that forbids writing to them.
    func lost(_ loss: LockLoss, _ failure: (any Error)?) -> MigrationError {
        let ending: Message = failure == nil ? "ran" : "failed"
        let kept: Message =
            files != nil
            ? """
            , and the files it protects were left as they are. The next start puts them back if the state lists them. \
            Don't write to those files before it succeeded.
            """
            : "."
        let error = MigrationError.lockLost(
            loss,
            version,
            location,
            code: files != nil ? .protectionFailed : .stateNotSaved,
            consequence: "Migration \(version) \(ending) and that was not recorded\(kept)"
        )
        return if let failure { error.following(failure) } else { error }
    }
}
