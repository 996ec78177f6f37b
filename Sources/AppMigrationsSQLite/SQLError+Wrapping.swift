extension SQLError {
    /// Runs what a connection of any library does, and makes its error one of this library.
    @discardableResult
    static func wrapping<Value>(
        as code: Code = .statementFailed,
        _ body: () throws -> Value
    ) throws(SQLError) -> Value {
        do {
            return try body()
        } catch let error as SQLError {
            throw error
        } catch is CancellationError {
            throw SQLError(.cancelled, "The task was cancelled")
        } catch {
            var wrapped = SQLError(code, "\(error)")
            wrapped.underlyingError = error
            throw wrapped
        }
    }

    /// This error, with the failure of what should have cleaned up after it.
    func adding(_ failure: SQLError, of action: String) -> SQLError {
        var error = self
        error.message += "; and \(action) failed: \(failure.message)"
        return error
    }
}
