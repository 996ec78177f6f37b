extension StateLocation {
    /// Makes the error `protectionFailed`, for a stage that failed at a path because of `reason`.
    func protectionError(
        _ stage: ProtectionStage,
        of version: AppVersion?,
        at path: String,
        reason: Message,
        because cause: (any Error)? = nil,
        isTransient: Bool = false
    ) -> MigrationError {
        let text: Message = "\(stage.subject(of: version)) in \(self): \(reason). \(stage.consequence)"
        return error(
            .protectionFailed,
            version: version,
            at: path,
            because: cause,
            isTransient: isTransient,
            text
        )
    }

    /// Makes the error to throw if copying, restoring or abandoning protected files failed with `error`.
    ///
    /// An error whose code is `protectionFailed` or `cancelled` is returned as it is.
    func protectionError(
        _ stage: ProtectionStage,
        of version: AppVersion?,
        because error: any Error
    ) -> MigrationError {
        let failure = error as? MigrationError
        if let failure, [.protectionFailed, .cancelled].contains(failure.code) { return failure }
        let cause = failure?.underlyingError ?? error
        let path = failure?.path ?? (error as? SystemCallError)?.path ?? snapshot
        return protectionError(
            stage,
            of: version,
            at: path,
            reason: Self.reason(for: error, causedBy: cause, at: path),
            because: cause,
            isTransient: failure?.isTransient ?? false
        )
    }

    private static func reason(for error: any Error, causedBy cause: any Error, at path: String) -> Message {
        guard let call = cause as? SystemCallError else {
            // The period at the end of this error's text is left out, because the sentence continues.
            return "\(path): \(String(String(describing: error).dropLast()))"
        }
        if call.errorNumber == Platform.notText {
            return "\(path) contains a name that is not UTF-8, which no path can express"
        }
        if call.isDenied {
            return
                "\(call.at(path)), so this user needs the permissions to read it and to write to it (chmod)"
        }
        return "\(call.at(path))"
    }

    /// Makes the error for files that another manager protects as well.
    ///
    /// The error is transient only while the other migration is running: then it is enough to wait. If a
    /// restore of the other manager is pending instead, waiting doesn't help: the restore isn't done until
    /// the app creates that manager.
    func conflictError(
        with other: StateLocation,
        over path: String,
        of version: AppVersion,
        isRunning: Bool
    ) -> MigrationError {
        if isRunning {
            return protectionError(
                .conflicting,
                of: version,
                at: path,
                reason: "manager \(other.name.quoted) protects \(path) too, and its migration is running",
                isTransient: true
            )
        }
        return protectionError(
            .copying,
            of: version,
            at: path,
            reason: """
                manager \(other.name.quoted) protects \(path) too, and the restore of its migration is pending: create that manager \
                first, or abandon its restore with MigrationManager.abandonRestore(named: \(other.name.quoted))
                """
        )
    }

    /// Makes the error for another manager's list of protected files that can't be read.
    ///
    /// Without the list, it isn't known which files that manager protects.
    func damagedListError(
        of other: StateLocation,
        at path: String,
        while version: AppVersion
    ) -> MigrationError {
        protectionError(
            .copying,
            of: version,
            at: path,
            reason: """
                manager \(other.name.quoted) protects files, and its list is damaged (\(path)), so these may be the same files: \
                abandon its restore with MigrationManager.abandonRestore(named: \(other.name.quoted))
                """
        )
    }

    /// Makes the error that reports files which this library keeps: copies, or files that a restore replaced.
    func keptFilesError(_ kept: SavedFiles.Kept) -> MigrationError {
        let subject: Message
        switch kept.reason {
        case .stateLost:
            subject = "Copies of protected files were found, but no state of \(self) refers to them"
        case .notRemovable:
            subject = """
                Copies of protected files of \(self) are not needed any more, but they could not be removed
                """
        case .holdsState:
            subject = """
                While protected files of \(self) were restored, files were replaced that contain the state of another manager
                """
        case .notMovable:
            subject = """
                While protected files of \(self) were restored, files were replaced that have to be kept: they contain the state of \
                another manager, the state was moved, or an older release may have written to them since a crash
                """
        case .stateMoved(let former):
            subject = """
                The state of \(self) was moved or copied from \(former). Protected files were restored at the new place, where they \
                replaced files
                """
        case .replacedAfterCrash:
            subject = """
                The protected files of \(self) were restored after a crash, and the files that were replaced may contain what an older \
                release wrote since then
                """
        }
        let text: Message = """
            \(subject). They are kept at \(kept.path). This library neither restores nor removes them. Compare them with your \
            data, then remove them.
            """
        return error(.protectionFailed, at: kept.path, text)
    }
}

extension MigrationError {
    /// Makes the error for files that could not be synced to disk.
    ///
    /// They are protected files that the closure wrote, or paths that the closure passed to
    /// ``MigrationContext/synchronize(_:)``.
    static func unsynchronized(
        at path: String,
        reason: Message,
        in location: StateLocation,
        of version: AppVersion,
        because cause: SystemCallError? = nil
    ) -> MigrationError {
        let text: Message = """
            The files that migration \(version) of \(location) wrote could not be synced to disk: \(reason). The migration was not \
            recorded, and runs again with the next manager.
            """
        return location.error(.stateNotSaved, version: version, at: path, because: cause, text)
    }
}
