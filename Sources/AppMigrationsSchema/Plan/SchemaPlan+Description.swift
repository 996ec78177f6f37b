extension SchemaPlan: CustomStringConvertible {
    /// What the plan would do or ask, one step or question in a line.
    public var description: String {
        if !questions.isEmpty { return questions.map(\.description).joined(separator: "\n") }
        if steps.isEmpty { return "Nothing is to be done: the database has the target's schema." }
        return steps.map(\.description).joined(separator: "\n")
    }
}
