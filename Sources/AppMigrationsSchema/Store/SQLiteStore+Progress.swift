internal import AppMigrationsSQLite

extension SQLiteStore {
    /// How far a staged migration is.
    public struct Progress: Sendable, Hashable {
        /// The phases of the work, in the order of the cases.
        ///
        /// The part of the whole that each of them has in ``fraction`` is a guess: SQLite copies pages about as fast in each
        /// phase, and nobody knows how long a migration takes.
        public enum Phase: Sendable, Hashable {
            /// The store is copied: 0 to 0.2 of the whole.
            case copying
            /// `body` runs on the copy: 0.2 to 0.5, by the pages of the copy that it has read.
            case migrating
            /// The copy is checked: 0.5 to 0.7, by the pages that were read.
            case checking
            /// The backup is made: 0.7 to 0.8.
            case backingUp
            /// The copy takes the place of the store: 0.8 to 1.
            case replacing

            fileprivate var part: (start: Double, length: Double) {
                switch self {
                case .copying: (0, 0.2)
                case .migrating: (0.2, 0.3)
                case .checking: (0.5, 0.2)
                case .backingUp: (0.7, 0.1)
                case .replacing: (0.8, 0.2)
                }
            }
        }

        /// The phase of the work.
        public let phase: Phase

        /// The pages of this phase that are done, 0 where it has none.
        public let completedPages: Int

        /// The pages of this phase, 0 where it has none or does not know yet.
        public let totalPages: Int

        /// How much of all phases is done, from 0 to 1.
        ///
        /// It never falls in one call of `migrateStaged`, also where another process wrote and the copy is made again. A phase
        /// that is left out is passed over. It ends at 1: the last call comes when all is done, and its answer changes nothing.
        public internal(set) var fraction: Double

        init(_ phase: Phase, _ completedPages: Int = 0, of totalPages: Int = 0) {
            self.phase = phase
            self.completedPages = completedPages
            self.totalPages = totalPages
            let done = totalPages > 0 ? Double(completedPages) / Double(totalPages) : 0
            fraction = phase.part.start + phase.part.length * done
        }

        /// The last one of a call.
        var atEnd: Progress {
            var end = Progress(phase, totalPages, of: totalPages)
            end.fraction = 1
            return end
        }
    }

    /// The answer of `progress:`: the staged migration goes on, or ends.
    public enum Answer: Sendable, Hashable {
        /// The migration continues.
        case `continue`
        /// It ends here, and the store is as it was.
        case cancel
    }
}
