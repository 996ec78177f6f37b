/// A statement was left behind without an answer, and its connection with it.
package struct UnansweredStatement: Error {
    package let reason: SQLError

    package init(_ reason: SQLError) { self.reason = reason }
}
