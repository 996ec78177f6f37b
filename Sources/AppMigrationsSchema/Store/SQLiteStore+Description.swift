extension SQLiteStore.Status: CustomStringConvertible {
    /// What the store is, for a person: its case, and the plan's steps, the questions or the reason in the lines below.
    public var description: String {
        switch self {
        case .same: "same: the store has the target's schema"
        case .missing: "missing: there is no store yet"
        case .migratable(let plan): "migratable:\n\(plan)"
        case .undecided(let questions):
            "undecided:\n\(questions.map(\.description).joined(separator: "\n"))"
        case .damaged(let error): "damaged: \(error)"
        case .newer(let error): "newer: \(error)"
        case .busy(let error): "busy: \(error)"
        case .unreachable(let error): "unreachable: \(error)"
        }
    }
}

extension SQLiteStore.Progress: CustomStringConvertible {
    /// The phase, with its pages where it has some: `copying, 3 of 10 pages`.
    public var description: String {
        totalPages == 0 ? "\(phase)" : "\(phase), \(completedPages) of \(totalPages) pages"
    }
}
