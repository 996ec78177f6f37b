/// A promise that a store of a fleet doesn't keep.
public struct FleetStoreFinding: Sendable, CustomStringConvertible {
    /// Which promise.
    public let promise: Promise

    /// What was done, and what came back.
    public let description: String

    init(_ promise: Promise, _ description: String) {
        self.promise = promise
        self.description = description
    }

    /// The promises of `FleetStore`.
    ///
    /// More can come with a later release: keep a `default` in a `switch`.
    public struct Promise: Sendable, Hashable, CustomStringConvertible {
        /// The name of the promise, as it is written in Swift.
        public let description: String

        private init(_ name: String) { description = name }

        /// A document that was never written reads as `nil`, and makes no error.
        public static var absence: Promise { Promise("absence") }

        /// The first document is made once, and never over another.
        public static var creation: Promise { Promise("creation") }

        /// A document is replaced at its own revision only.
        public static var comparison: Promise { Promise("comparison") }

        /// No revision comes a second time, also not for the same bytes.
        public static var revisions: Promise { Promise("revisions") }

        /// What one host has written the others read at once.
        public static var freshness: Promise { Promise("freshness") }

        /// The bytes come back as they were, up to 1 MiB of them.
        public static var bytes: Promise { Promise("bytes") }

        /// Names that differ in a byte are documents of their own.
        public static var names: Promise { Promise("names") }

        /// Of several hosts that replace one revision at once, one does.
        public static var concurrency: Promise { Promise("concurrency") }

        /// A store that can't be reached throws.
        public static var errors: Promise { Promise("errors") }
    }
}
