extension MigrationError {
    static func unreadable(_ cause: SystemCallError, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateUnreadable,
            manager: location.name,
            path: location.state,
            underlying: cause,
            "The state of manager \(quoted(location.name)), \(location.state), could not be read: \(cause). "
                + "Nothing was run or written. Try again when the file can be read, for instance after the "
                + "device's first unlock; where that is no matter of time, change its rights or its path."
        )
    }

    static func unusableDirectory(_ directory: String, manager: String, _ reason: String) -> MigrationError {
        MigrationError(
            .stateUnreadable,
            manager: manager,
            path: directory,
            "The state directory \(quoted(directory)) of manager \(quoted(manager)) can't be used: \(reason). "
                + "Nothing was run or written. Pass the path of a folder as stateDirectory:."
        )
    }

    /// The state was there when the manager was made.
    static func gone(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateUnreadable,
            manager: location.name,
            path: location.state,
            "The state of manager \(quoted(location.name)), \(location.state), was there when the manager was made "
                + "and is gone. Nothing was run or written. Make a new manager; it will be a first run."
        )
    }

    static func notRegular(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateCorrupted,
            manager: location.name,
            path: location.state,
            "The state of manager \(quoted(location.name)), \(location.state), is not a regular file of at most 1 MiB. Nothing "
                + "was run, and what stands there was left as it is. Put the state's file itself at this path: a link isn't "
                + "followed, since a save would replace it. Where the state is lost, move away what stands there: the next "
                + "manager is a first run then."
        )
    }

    static func notOurs(_ problem: StateProblem, _ location: StateLocation) -> MigrationError {
        switch problem {
        case .newerFormat(let format):
            return MigrationError(
                .stateFromNewerFormat,
                manager: location.name,
                path: location.state,
                "The state of manager \(quoted(location.name)), \(location.state), has format \(format); this release "
                    + "of the library reads up to \(MigrationState.format). Nothing was run or written. "
                    + "Start a newer release of the app."
            )
        case .notOurs(let problem, let key?):
            return corrupted(
                location,
                "it has no \(quoted(key.text)), or is cut off at byte \(problem.offset)"
            )
        case .notOurs(let problem, nil):
            return corrupted(
                location,
                "expected \(problem.expected.text) at byte \(problem.offset)"
            )
        }
    }

    private static func corrupted(_ location: StateLocation, _ reason: String) -> MigrationError {
        MigrationError(
            .stateCorrupted,
            manager: location.name,
            path: location.state,
            "The state of manager \(quoted(location.name)), \(location.state), is damaged, or not a state of this manager: "
                + "\(reason). Nothing was run, and every byte of it was left as it is. Repair the file, restore it from a "
                + "backup, or move it away: the next manager is a first run then."
        )
    }

    static func lockUnavailable(_ cause: SystemCallError?, _ location: StateLocation) -> MigrationError {
        let reason = Platform.isOtherThanFile(location.lock) ? nil : cause?.description
        return MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.lock,
            underlying: cause,
            "The lock of manager \(quoted(location.name)), \(location.lock), could not be taken: "
                + "\(reason ?? "it is not a regular file"). Nothing was run and the state is unchanged. "
                + "Make the folder writable for this process and start again."
        )
    }

    static func claimUnknown(_ cause: SystemCallError, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.snapshot,
            underlying: cause,
            "The lock of manager \(quoted(location.name)), \(location.lock), could not be taken: whether a closure is "
                + "running can't be told from \(location.snapshot), \(cause). Nothing was run and the state is unchanged. "
                + "Make that folder readable for this process and start again."
        )
    }

    static func lockLost(
        _ loss: LockLoss,
        _ version: AppVersion?,
        _ location: StateLocation,
        code: Code = .stateNotSaved,
        consequence: String
    ) -> MigrationError {
        MigrationError(
            code,
            manager: location.name,
            version: version,
            path: location.lock,
            underlying: loss.cause,
            "Manager \(quoted(location.name)) doesn't have the lock \(location.lock) any more: \(loss). Nothing was "
                + "written to \(location.state) without it. \(consequence) Make a new manager, which reads the state "
                + "again; never remove the lock's file, and close in a closure only what it opened."
        )
    }

    static func lockTimeout(
        _ timeout: Duration,
        heldBy holder: String,
        _ cause: SystemCallError?,
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        MigrationError(
            .lockTimeout,
            manager: location.name,
            version: version,
            path: location.lock,
            underlying: cause,
            "Manager \(quoted(location.name)) waited \(timeout) for the lock \(location.lock), which \(holder) holds. "
                + "Nothing was run and the state is unchanged. Let that process finish and start again."
        )
    }

    /// What a save that failed means depends on what it was to save.
    static func notSaved(
        _ failure: SaveFailure,
        _ version: AppVersion?,
        _ location: StateLocation,
        consequence: String
    ) -> MigrationError {
        if let loss = failure.lockLoss {
            return lockLost(loss, version, location, consequence: consequence)
        }
        let leftover =
            failure.leftover.map { " \(location.temporary) could not be removed either: \($0)." } ?? ""
        let subject = "The state of manager \(quoted(location.name)), \(location.state),"
        let remedy = failure.isRenamed ? "" : " Make room, or the folder writable, and start again."
        let description =
            failure.isRenamed
            ? "\(subject) was saved, but may not survive a power failure: \(failure.cause). The new state stands. "
            : "\(subject) could not be saved: \(failure.cause). The old state stands.\(leftover) "
        return MigrationError(
            .stateNotSaved,
            manager: location.name,
            version: version,
            path: location.state,
            underlying: failure.cause,
            description + consequence + remedy
        )
    }

    static func launchOwed(_ current: AppVersion, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.state,
            "That version \(current) was launched could not be saved in the state of manager \(quoted(location.name)), "
                + "\(location.state): the lock is held for a migration. Each later declaration and the next start try again; "
                + "until then an older version of the app doesn't see that it is one."
        )
    }

    static func notRemoved(_ cause: SystemCallError, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.state,
            underlying: cause,
            "The state of manager \(quoted(location.name)), \(location.state), could not be removed for good: "
                + "\(cause). Make the folder writable for this process and try again."
        )
    }
}
