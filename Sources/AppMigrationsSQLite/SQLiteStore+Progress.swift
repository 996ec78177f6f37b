extension SQLiteStore {
    /// How a migrated copy takes the place of the store.
    public enum Swap: Sendable, Hashable {
        /// The copy is written back into the store's file, as one ordinary transaction.
        ///
        /// Other processes may have the store open, and see the new rows and schema as they see any commit.
        case inPlace

        /// The copy is renamed to the store: quicker for a large one **that no other process opens meanwhile**.
        ///
        /// Connections that are in a transaction, and all that have a store in WAL mode open, make the call wait and
        /// fail as busy. Others nobody can see: one that opened the old file before goes on with it, but with the
        /// journal of the new one, and what it writes is lost or damages the new store ("How To Corrupt An
        /// SQLite Database File", section 2.4).
        case rename
    }

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
        /// It goes on.
        case goOn
        /// It ends here, and the store is as it was.
        case cancel
    }
}
