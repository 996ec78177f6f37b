extension SQLError {
    /// This error, with its position in a script.
    package func located(at position: (line: Int, column: Int)) -> SQLError {
        with {
            $0.line = position.line
            $0.column = position.column
        }
    }

    /// This error, with the statement of a script and its position.
    package func located(inStatement statement: String, at position: (line: Int, column: Int)) -> SQLError {
        located(at: position).with { $0.statement = statement }
    }
}
