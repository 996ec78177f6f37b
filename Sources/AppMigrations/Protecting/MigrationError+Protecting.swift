enum ProtectionStage {
    case taking, restoring, missing, noting, abandoning, clearing

    fileprivate func text(_ files: Message, _ migration: Message, _ copy: Message) -> (Message, Message) {
        let kept: Message = "Their \(copy) is kept, and"
        let wayOut: Message =
            "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:) gives it up: the files stay as they are then"
        let end: Message
        switch self {
        case .taking:
            end = "Nothing was run and nothing changed. Mend that and make a new manager."
            return ("\(files) could not be copied", end)
        case .restoring:
            end = """
                \(kept) the next start tries again. Don't write to those files before it succeeded. \(wayOut), and the copy in a \
                folder beside the state.
                """
        case .missing:
            end = "Nothing was changed. Bring that copy back and start again. \(wayOut)."
        case .abandoning:
            end = "\(kept) the files are as they were. Mend that and call it again."
            return ("The restore of \(migration) could not be abandoned", end)
        case .noting:
            end =
                "\(kept) the next start puts back what is left of it. Don't write to those files before it succeeded."
            return ("\(files) are what they were before it, but that could not be saved", end)
        case .clearing:
            end = "No data is concerned; the next start that takes the lock tries again."
            return ("The \(copy), which nothing needs any more, could not be removed", end)
        }
        return ("\(files) could not be put back", end)
    }
}

extension StateLocation {
    /// The error for protected files at a path, with the reason in words.
    func protection(
        _ stage: ProtectionStage,
        _ version: AppVersion?,
        at path: String,
        _ reason: Message,
        because cause: (any Error)? = nil,
        isTransient: Bool = false
    ) -> MigrationError {
        let migration: Message = version.map { "migration \($0)" } ?? "a migration"
        let files: Message = "The files that \(migration) protects"
        let (subject, end) = stage.text(files, migration, "copy beside \(state)")
        let text: Message = "\(subject) by manager \(name.quoted): \(reason). \(end)"
        return error(.protectionFailed, version, at: path, because: cause, isTransient: isTransient, text)
    }

    /// The error for what was thrown while protected files were taken, put back or given up.
    func protection(_ stage: ProtectionStage, _ version: AppVersion?, _ error: any Error) -> MigrationError {
        let failure = error as? MigrationError
        if let failure, [.protectionFailed, .cancelled].contains(failure.code) { return failure }
        let cause = failure?.underlyingError ?? error
        let path = failure?.path ?? (error as? SystemCallError)?.path ?? snapshot
        // The sentence of the error goes on.
        var reason: Message = "\(path): \(String(String(describing: error).dropLast()))"
        if let call = cause as? SystemCallError {
            reason =
                call.errorNumber == Platform.notText
                ? "\(path) leads to a name that is no UTF-8, so no path can name it" : "\(call.at(path))"
        }
        let isTransient = failure?.isTransient ?? false
        return protection(stage, version, at: path, reason, because: cause, isTransient: isTransient)
    }
}

extension StateLocation {
    /// The error of files that another manager protects too.
    func conflict(
        with other: StateLocation,
        over place: String,
        of version: AppVersion,
        isRunning: Bool
    ) -> MigrationError {
        let name = other.name.quoted
        let reason: Message =
            isRunning
            ? "manager \(name) has listed \(place) for its migration, which is running: start again when it has ended"
            : """
            manager \(name) has copied \(place) for a migration that has not ended: make that manager first, or give its files up with \
            MigrationManager.abandonRestore(named: \(name))
            """
        return protection(.taking, version, at: place, reason, isTransient: isRunning)
    }

    /// The error that names a folder which is neither put back nor removed.
    func keeping(_ kept: SavedFiles.Kept) -> MigrationError {
        let subject: Message
        switch kept.reason {
        case .stateLost:
            subject =
                "Copies of files that a migration of manager \(name.quoted) protected were found without a state"
        case .holdsState:
            subject =
                "Copies of files that a migration of manager \(name.quoted) protected were found with the state of another manager"
        case .besideItsPlace:
            subject = """
                Files that were replaced when those of a migration of manager \(name.quoted) were put back hold the state of a \
                manager, or were found where the state was moved or copied to
                """
        case .stateMoved(let former):
            subject = """
                The state of manager \(name.quoted) was moved or copied from \(former) to \(directory), and protected files were \
                put back in the place of files that were found there
                """
        }
        let text: Message = """
            \(subject). They are kept in \(kept.folder), and this library puts nothing of them back and removes nothing. Compare \
            them with the data, then remove the folder.
            """
        return error(.protectionFailed, at: kept.folder, text)
    }
}

extension MigrationError {
    /// The work of a closure that returned, or what a closure named, is not on the disk.
    static func unsynchronized(
        _ path: String,
        _ reason: Message,
        _ location: StateLocation,
        _ version: AppVersion,
        because cause: SystemCallError? = nil
    ) -> MigrationError {
        let text: Message = """
            What migration \(version) of manager \(location.name.quoted) wrote could not be synced to disk: \
            \(reason). It is not recorded in \(location.state), and will run again with the next manager.
            """
        return location.error(.stateNotSaved, version, at: path, because: cause, text)
    }
}
