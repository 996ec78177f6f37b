/// A promise that a store of a fleet didn't keep, as a ``FleetStoreConformance`` found it, in plain words.
public struct FleetStoreFinding: Error, Sendable, CustomStringConvertible {
    /// The promise that was broken.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The finding in words: what was done, and what came back.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// The kinds of ``FleetStoreFinding``, one for each promise.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// A document that was never written didn't read as `nil`.
        public static var absence: Kind { Kind("absence") }

        /// The first document was refused, or made over another one.
        public static var creation: Kind { Kind("creation") }

        /// A document was replaced at another revision than its own, or not at its own.
        public static var comparison: Kind { Kind("comparison") }

        /// A revision came a second time.
        public static var revisions: Kind { Kind("revisions") }

        /// A host read something else than what another host had just written.
        public static var freshness: Kind { Kind("freshness") }

        /// Bytes didn't come back as they were written.
        public static var bytes: Kind { Kind("bytes") }

        /// Two names were one document, or a name was refused.
        public static var names: Kind { Kind("names") }

        /// Of several hosts that replaced one revision at once, not exactly one did.
        public static var concurrency: Kind { Kind("concurrency") }

        /// A store that can't be reached answered, instead of throwing.
        public static var errors: Kind { Kind("errors") }
    }
}
