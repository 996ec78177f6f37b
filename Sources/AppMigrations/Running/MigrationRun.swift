/// One attempt at one migration, from its intent to its record, under the lock.
struct MigrationRun {
    let context: MigrationContext
    let token: RunToken
    let locked: LockedState
    /// Stands while the closure runs, where files are protected.
    let claim: SnapshotClaim?
    let protection: FileProtection?
    /// The state with the intent, as it stands in the file.
    var state: MigrationState
    let began = Platform.uptime
    /// How long the closure took, once it has ended.
    var duration: Duration?

    /// Calls the closure; its error is a fact to be recorded, not one to pass on yet.
    func call(_ body: (MigrationContext) throws -> Void) -> (any Error)? {
        defer { token.end() }
        do {
            try RunToken.$current.withValue(token) { try body(context) }
            return nil
        } catch {
            return error
        }
    }
}
