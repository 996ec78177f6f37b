/// Thrown if an ``AnswerWatch`` stopped waiting for a statement, whose connection can't be used any more.
package struct UnansweredStatement: Error {
    package let reason: SQLError

    package init(_ reason: SQLError) { self.reason = reason }
}
