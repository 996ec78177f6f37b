extension SQLError {
    /// This error, with its place in a script.
    package func located(at place: (line: Int, column: Int)) -> SQLError {
        with {
            $0.line = place.line
            $0.column = place.column
        }
    }

    /// This error, with the statement of a script and its place.
    package func located(inStatement statement: String, at place: (line: Int, column: Int)) -> SQLError {
        located(at: place).with { $0.statement = statement }
    }
}
