extension MigrationError {
    /// Makes the error of a migration whose closure threw `cause`.
    ///
    /// The code is `cancelled` if `cause` is a cancellation, and `migrationFailed` otherwise.
    package static func failed(
        _ version: AppVersion,
        in location: StateLocation,
        attempt: Int,
        because cause: any Error,
        consequence: Message = "",
        isTransient: Bool = false
    ) -> MigrationError {
        let isCancelled = isCancellation(cause)
        var ending: Message = "failed in attempt \(attempt): \(sentence(cause))"
        if isCancelled {
            let detail = (cause as? MigrationError).map { " " + sentence($0) } ?? ""
            ending = "was cancelled in attempt \(attempt).\(detail)"
        }
        let text: Message = """
            Migration \(version) of \(location) \(ending) \
            It is not recorded, and runs again with the next manager.\(consequence)
            """
        let code: Code = isCancelled ? .cancelled : .migrationFailed
        return location.error(code, version: version, because: cause, isTransient: isTransient, text)
    }

    /// Makes the error of a call that would wait for itself.
    ///
    /// The call was made inside a closure, a plan or a declaration that uses the same state.
    package static func nested(_ version: AppVersion?, in location: StateLocation) -> MigrationError {
        location.error(
            .nested,
            version: version,
            """
            This call would wait for itself. A closure, a plan or a declaration of \(location) is running, and the call was made \
            inside it or at the same time.
            """,
            advice: """
                In a plan, use the manager that its closure gets. Elsewhere, declare this version after the other declaration has \
                returned, not inside its closure. In asynchronous code, await each declaration.
                """
        )
    }

    static func isCancellation(_ cause: any Error) -> Bool {
        cause is CancellationError || (cause as? MigrationError)?.code == .cancelled
    }

    /// Returns the text of an error as a sentence: adds a full stop unless it ends with `.`, `!` or `?`.
    package static func sentence(_ cause: any Error) -> String {
        let text = String(describing: cause)
        return text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
    }
}

extension StateLocation {
    /// Makes the error of a task that was cancelled before a closure began.
    ///
    /// `work` is a phrase in the past tense whose subject is the manager, for example "waited for the lock".
    func cancelled(_ version: AppVersion?, while work: Message) -> MigrationError {
        error(
            .cancelled,
            version: version,
            because: CancellationError(),
            "The task was cancelled while \(self) \(work).",
            advice: "Create a new manager to try again."
        )
    }
}
