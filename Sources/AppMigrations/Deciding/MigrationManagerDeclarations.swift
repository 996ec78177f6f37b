/// What was declared through a manager, whose turn it is, and what is known of the state.
///
/// It reads no file: the manager tells it what the state says.
package struct Declarations {
    /// Whether declarations are taken, or which failure ended that.
    enum Standing {
        case open
        case closed(MigrationError)
    }

    /// The place of a declaration that has something to run, among those of its manager.
    package struct Ticket: Equatable, Sendable {
        let number: UInt64
        let isAsynchronous: Bool
    }

    package internal(set) var marks: StateMarks
    /// Whether this manager made the state, for a fresh install.
    var isFresh: Bool
    var previous = AppVersion.zero
    /// The version up to which declarations need no closer look; zero when all of them need it.
    var idleLimit: AppVersion
    var standing = Standing.open
    /// The calls that have something to run, in the order in which they came.
    var queue: [Ticket] = []
    var nextTicket: UInt64 = 0
    var plansUnderWay = 0

    @inline(__always)
    package init(_ marks: consuming StateMarks, isFresh: Bool, current: AppVersion) {
        idleLimit = marks.idleLimit(of: current)
        self.marks = marks
        self.isFresh = isFresh
    }

    /// For a plan or a rehearsal, which look closely at every declaration.
    package init(observed marks: StateMarks, isFresh: Bool) {
        self.init(marks, isFresh: isFresh, current: .zero)
        plansUnderWay = 1
    }

    init(observedFrom other: Declarations) {
        self.init(observed: other.marks, isFresh: other.isFresh)
    }

    /// Passes a version over that has run already; `false` where a closer look is needed.
    ///
    /// This is the whole cost of a version that has run: parse, lock, two comparisons, and a third where it has a floor.
    @inline(__always)
    mutating func passes(_ version: UsualVersion) -> Bool {
        guard previous.precedes(version), !idleLimit.precedes(version) else { return false }
        previous.set(version)
        return true
    }

    package var firstFailure: MigrationError? { if case .closed(let first) = standing { first } else { nil } }

    /// Throws where a failure has ended the declarations.
    package func requireOpen(_ version: AppVersion?, _ location: StateLocation) throws(MigrationError) {
        if let firstFailure { throw .blocked(version, by: firstFailure, location) }
    }
}
