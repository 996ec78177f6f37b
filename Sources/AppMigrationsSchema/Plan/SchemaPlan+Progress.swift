extension SchemaPlan {
    /// How far ``apply(_:progress:)`` is, told before each step.
    public struct Progress: Sendable {
        /// The step that is about to run.
        public let step: Step

        /// How many steps have run.
        public let completed: Int

        /// How many steps the plan has.
        public let total: Int
    }
}
