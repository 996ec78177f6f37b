/// The versions of a ledger beside the migrations of an app, both in order.
struct LedgerDifference {
    let applied: [Int64]
    /// The places of the migrations that were not applied.
    private(set) var pending = [Int]()
    private(set) var unknown = [Int64]()
    /// The place of the last migration that was.
    private(set) var newest: Int?
    /// The pending versions that lie below the newest applied.
    private(set) var outOfOrder = [Int64]()

    init(of versions: [Int64], with steps: [SQLStep]) {
        applied = versions
        var index = 0
        for (place, step) in steps.enumerated() {
            while index < versions.count, versions[index] < step.version {
                unknown.append(versions[index])
                index += 1
            }
            if index < versions.count, versions[index] == step.version {
                while index < versions.count, versions[index] == step.version { index += 1 }
                newest = place
            } else {
                pending.append(place)
                if let last = versions.last, step.version < last { outOfOrder.append(step.version) }
            }
        }
        unknown.append(contentsOf: versions[index...])
    }
}
