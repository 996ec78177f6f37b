import SimulatedSystem

/// Programs that run at once on a disk that was prepared, and how much may go wrong meanwhile: the thing to search.
struct Scenario: Sendable {
    /// The work of one process; the text that it gives back says how it ended.
    struct Program: Sendable {
        let name: String
        /// True if the program must not change anything.
        var isLooking = false
        let run: @Sendable (Ghost) -> String
    }

    /// How often each may happen in one execution.
    struct Budget: Equatable {
        var deaths = 0
        var powerLosses = 0
        var faults = 0
        /// Waits that go on polling until they give up.
        var stalls = 0
    }

    let name: String
    /// The versions that are to run, each declared by some app.
    let versions: [String]
    /// The versions that are declared with `addedIn:`, below the last-run version that ``setUp`` leaves.
    var late: [String] = []
    /// The managers, each of which declares these.
    var managers = [Ghost.library]
    var setUp: @Sendable (Ghost) -> Void = { _ in }
    let programs: [Program]
    /// Started when the program of that place has died, and after a power loss; `nil` for `last`.
    var restart: Program?
    /// The last start, which nothing disturbs.
    let last: Program
    /// True if CI searches only a part of the scenario.
    var isLarge = false
    /// How far CI's searches deviate from going straight on, where that is less than in others.
    var deviations = Int.max
    /// The same for the search in which only the order of the calls varies, by far the smallest; `nil` for ``deviations``.
    var deviationsOfOrder: Int?
    /// How a program may end where nothing failed.
    var endings: Set<String> = ["done"]
    var budget = Budget()
    /// The checks at the end, after the last start.
    let atEnd: @Sendable (Ghost) -> Void
}
