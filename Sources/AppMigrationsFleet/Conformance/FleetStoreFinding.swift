/// A promise that a store doesn't keep, as ``FleetStoreConformance`` has found.
public struct FleetStoreFinding: Error, Sendable, CustomStringConvertible {
    /// The promise that was broken.
    ///
    /// Later releases may add kinds, so a `switch` needs a `default`.
    public let kind: Kind

    /// The finding in words: which calls were made, and what they returned.
    public let description: String

    init(of kind: Kind, description: String) {
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

        /// The first document was refused, or a document was created although there was one.
        public static var creation: Kind { Kind("creation") }

        /// A document was replaced although the revision was wrong, or was not replaced although it was
        /// right.
        public static var comparison: Kind { Kind("comparison") }

        /// A revision was used twice.
        public static var revisions: Kind { Kind("revisions") }

        /// A host didn't read the document that another host had just written.
        public static var freshness: Kind { Kind("freshness") }

        /// The bytes that were read differ from the bytes that were written.
        public static var bytes: Kind { Kind("bytes") }

        /// Two names shared one document, or a name was refused.
        public static var names: Kind { Kind("names") }

        /// Several hosts tried to replace the same revision at once, and not exactly one of them succeeded.
        public static var concurrency: Kind { Kind("concurrency") }

        /// A store that can't be reached returned something instead of throwing.
        public static var errors: Kind { Kind("errors") }
    }
}
