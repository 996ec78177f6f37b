internal import AppMigrationsSQLite

extension SQLiteStore {
    /// How far a staged migration is.
    public struct Progress: Sendable, Hashable {
        /// What is being done.
        public enum Phase: Sendable, Hashable {
            /// The store is copied.
            case copying
            /// `body` is about to run on the copy.
            case migrating
            /// The copy is about to be checked.
            case checking
            /// The backup is made.
            case backingUp
            /// The copy takes the place of the store.
            case replacing
        }

        /// What is being done.
        public let phase: Phase

        /// The pages of this phase that are done, 0 where it has none.
        public let completedPages: Int

        /// The pages of this phase, 0 where it has none or does not know yet.
        public let totalPages: Int

        init(_ phase: Phase, _ completedPages: Int = 0, of totalPages: Int = 0) {
            self.phase = phase
            self.completedPages = completedPages
            self.totalPages = totalPages
        }
    }

    /// What becomes of a staged migration.
    public enum Answer: Sendable, Hashable {
        /// The migration continues.
        case `continue`
        /// It ends here, and the store is as it was.
        case cancel
    }
}
