extension FileSnapshot {
    /// Moves the copies to a folder of their own, durably; gives that folder, or `nil` where there are no copies.
    ///
    /// The folder has its name from the interruption. So where a call was killed before the state was saved, the next call
    /// finds that folder and continues with it.
    func keep(_ interrupted: Interruption) throws(ProtectionFailure) -> String? {
        try explaining(.abandoning) { try keep(from: interrupted.startedAt) }
    }

    /// The same for copies that no state lists, since the state was lost; named by the time of this call.
    ///
    /// What is no folder, this library didn't make: it stays where it is.
    func keepUnlisted() throws(ProtectionFailure) -> String? {
        try explaining(.keeping) {
            try isThere() ? keep(from: Platform.now) : nil
        }
    }

    private func isThere() throws -> Bool { try FileTree.status(location.snapshot)?.kind == .directory }

    private func keep(from time: Int64) throws -> String? {
        var kept: String?
        var number = 1
        var next = location.kept(time, number)
        while try FileTree.status(next) != nil {
            kept = next
            number += 1
            next = location.kept(time, number)
        }
        if try isThere() {
            kept = next
            try FileTree.at(location.snapshot) { () throws(SystemCallError) in
                try Platform.replace(next, with: location.snapshot)
            }
        }
        // The new place has to be durable before a state says nothing of the copies: at their old place they would be removed then.
        try FileTree.at(location.directory, call: Platform.synchronizeDirectory)
        return kept
    }
}
