extension FileSnapshot {
    /// Moves the copies to a folder of their own, durably; gives that folder, or `nil` where there are no copies.
    ///
    /// The folder has its name from the interruption. So where a call was killed before the state was saved, the next call
    /// finds that folder and continues with it.
    func keep(_ interrupted: Interruption) throws(ProtectionFailure) -> String? {
        try explaining(.abandoning) {
            var kept: String?
            var number = 1
            var next = location.kept(interrupted.startedAt, number)
            while try FileTree.status(next) != nil {
                kept = next
                number += 1
                next = location.kept(interrupted.startedAt, number)
            }
            if try FileTree.status(location.snapshot)?.kind == .directory {
                kept = next
                try FileTree.at(location.snapshot) { () throws(SystemCallError) in
                    try Platform.replace(next, with: location.snapshot)
                }
            }
            // The new place has to be durable before the state forgets the copies: at their old place they would be removed then.
            try FileTree.at(location.directory, call: Platform.synchronizeDirectory)
            return kept
        }
    }
}
