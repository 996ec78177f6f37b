/// The text of a state, wherever it is kept.
extension MigrationState {
    /// Reads the whole text.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` or `stateFromNewerFormat`.
    @inline(never)
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

extension StateMarks {
    /// What a start needs of the text, without its history; `nil` where it has to be read in full, which also says why.
    @inline(never)
    package static func read(document: [UInt8], name: String) -> StateMarks? {
        do throws(StateProblem) {
            return try document.withUnsafeBufferPointer { bytes throws(StateProblem) in
                try read(bytes, name: name)
            }
        } catch {
            return nil
        }
    }
}
