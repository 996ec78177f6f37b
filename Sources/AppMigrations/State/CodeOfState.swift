/// The text of a state that another place than a file keeps.
extension MigrationState {
    /// Reads the whole text.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` or `stateFromNewerFormat`.
    package init(document: [UInt8], at location: StateLocation) throws(MigrationError) {
        do throws(StateProblem) {
            self = try document.withUnsafeBufferPointer { bytes throws(StateProblem) in
                try MigrationState.read(bytes, name: location.name)
            }
        } catch {
            throw .notOurs(error, location)
        }
    }

    /// The text, or `nil` where it takes more than a state may.
    package var writtenDocument: [UInt8]? { document(limit: StateFile.sizeLimit) }
}
