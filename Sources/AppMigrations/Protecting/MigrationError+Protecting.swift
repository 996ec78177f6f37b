enum ProtectionStage {
    case taking, restoring, missing, noting, abandoning, clearing

    fileprivate func text(_ migration: Message, _ location: StateLocation) -> (subject: Message, end: Message)
    {
        let wayOut: Message =
            "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:) gives it up: the files stay as they are then"
        let copy: Message = "copy beside \(location.state)"
        let subject: Message
        let end: Message
        switch self {
        case .taking:
            subject = "The files that \(migration) protects could not be copied"
            end = "Nothing was run and nothing changed. Mend that and make a new manager."
        case .restoring:
            subject = "The files that \(migration) protects could not be put back"
            end = """
                Their \(copy) is kept, and the next start tries again. Don't write to those files before it succeeded. \
                \(wayOut), and the copy in a folder beside the state.
                """
        case .missing:
            subject = "The files that \(migration) protects could not be put back"
            end = "Nothing was changed. Bring that copy back and start again. \(wayOut)."
        case .abandoning:
            subject = "The restore of \(migration) could not be abandoned"
            end = "Their \(copy) is kept, and the files are as they were. Mend that and call it again."
        case .noting:
            subject =
                "The files that \(migration) protects are what they were before it, but that could not be saved"
            end = """
                Their \(copy) is kept, and the next start puts back what is left of it. Don't write to those files before it \
                succeeded.
                """
        case .clearing:
            subject = "The \(copy), which nothing needs any more, could not be removed"
            end = "No data is concerned; the next start that takes the lock tries again."
        }
        return (subject, end)
    }
}

extension StateLocation {
    /// The error for protected files at a path, with the reason in words.
    func protection(
        _ stage: ProtectionStage,
        _ version: AppVersion?,
        at path: String,
        _ reason: Message,
        because cause: (any Error)? = nil
    ) -> MigrationError {
        let (subject, end) = stage.text(version.map { "migration \($0)" } ?? "a migration", self)
        return error(
            .protectionFailed,
            version,
            at: path,
            because: cause,
            "\(subject) by manager \(name.quoted): \(reason). \(end)"
        )
    }

    /// The error for protected files whose state could not be had or saved.
    func protection(_ stage: ProtectionStage, _ version: AppVersion?, after failure: MigrationError)
        -> MigrationError
    {
        let path = failure.path ?? state
        // The sentence of this error goes on.
        var reason: Message = "\(path): \(String(failure.description.dropLast()))"
        if let cause = failure.underlyingError as? SystemCallError { reason = "\(cause.at(path))" }
        return protection(stage, version, at: path, reason, because: failure.underlyingError ?? failure)
    }

    /// The error for what was thrown while protected files were taken or put back.
    func protection(_ stage: ProtectionStage, _ version: AppVersion?, _ error: any Error) -> MigrationError {
        switch error {
        case let error as MigrationError where error.managerName == name: return error
        case let error as SystemCallError:
            let path = error.path ?? snapshot
            let reason: Message =
                error.errorNumber == Platform.notText
                ? "\(path) leads to a name that is no UTF-8, so no path can name it" : "\(error.at(path))"
            return protection(stage, version, at: path, reason, because: error)
        default: return protection(stage, version, at: snapshot, "\(error)", because: error)
        }
    }
}

extension MigrationError {
    /// The error of an event about copies that were moved aside.
    static func kept(_ folder: String, _ reason: Message, _ location: StateLocation) -> MigrationError {
        let text: Message = """
            Copies of files that a migration of manager \(location.name.quoted) protected were found \(reason). They are kept in \(folder), and this library puts nothing of them back and removes nothing. Compare \
            them with the data, then remove the folder.
            """
        return location.error(.protectionFailed, at: folder, text)
    }

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
