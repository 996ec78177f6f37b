/// The step at which protecting files failed, which decides how the error's text begins and ends.
enum ProtectionStage {
    /// Checking and copying the files, before the closure runs.
    case copying

    /// Checking the files: a running migration of another manager protects the same files.
    case conflicting

    /// Restoring the files from their copies.
    case restoring

    /// Looking for the copies that a pending restore needs.
    case findingCopies

    /// Saving in the state that the files are as they were before the migration.
    ///
    /// Either the files were restored, or the migration's closure was never called.
    case savingUnchanged

    /// Abandoning a restore, because the app called `abandonRestore`.
    case abandoning

    /// Removing copies that are no longer needed.
    case cleaningUp
}

extension ProtectionStage {
    private static let abandonRestore: Message =
        "call MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:): the files stay as they are"

    /// The beginning of the error's text, which the reason follows.
    func subject(of version: AppVersion?) -> Message {
        let migration: Message = version.map { "migration \($0)" } ?? "a migration"
        let files: Message = "The files that \(migration) protects"
        return switch self {
        case .copying, .conflicting: "\(files) could not be copied"
        case .restoring, .findingCopies: "\(files) could not be restored"
        case .savingUnchanged:
            "\(files) are the same as before the migration, but this could not be saved in the state"
        case .abandoning: "The restore of \(migration) could not be abandoned"
        case .cleaningUp: "Copies of protected files that are no longer needed could not be removed"
        }
    }

    /// The end of the error's text.
    ///
    /// It says what has happened to the files and their copies, and what to do next.
    var consequence: Message {
        switch self {
        case .copying:
            "The migration was not run and no file was changed. Fix the problem and create a new manager."
        case .conflicting:
            """
            The migration was not run and no file was changed. Create a new manager after the other migration has ended.
            """
        case .restoring:
            """
            The copies are kept, and the next start tries again to restore the files. Don't write to those files before a start \
            has succeeded. To abandon the restore, \(Self.abandonRestore), and the copies are moved to a folder next to the state.
            """
        case .findingCopies:
            """
            No file was restored. Put the copies back in their place and start the app again. To abandon the restore, \
            \(Self.abandonRestore).
            """
        case .savingUnchanged:
            """
            The copies are kept, and the next start may restore the files from them once more. Don't write to those files before \
            a start has succeeded.
            """
        case .abandoning:
            "The copies are kept, and the files were not changed. Fix the problem and call abandonRestore again."
        case .cleaningUp:
            "The protected files are not affected. A later start tries again to remove the copies."
        }
    }
}
