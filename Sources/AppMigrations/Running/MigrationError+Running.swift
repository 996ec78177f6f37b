extension MigrationError {
    package static func failed(
        _ version: AppVersion,
        attempt: Int,
        _ cause: any Error,
        _ location: StateLocation,
        consequence: Message = ""
    ) -> MigrationError {
        let isCancelled = isCancellation(cause)
        var end: Message = "failed in attempt \(attempt): \(sentence(cause))"
        if isCancelled {
            let more = (cause as? MigrationError).map { " " + sentence($0) } ?? ""
            end = "was cancelled in attempt \(attempt).\(more)"
        }
        let text: Message = """
            Migration \(version) of manager \(location.name.quoted) \(end) \
            It is not recorded in \(location.state) and runs again with the next manager.\(consequence)
            """
        return location.error(isCancelled ? .cancelled : .migrationFailed, version, because: cause, text)
    }

    static func isCancellation(_ cause: any Error) -> Bool {
        cause is CancellationError || (cause as? MigrationError)?.code == .cancelled
    }

    /// Somebody else's text for an error, with one mark at its end.
    package static func sentence(_ cause: any Error) -> String {
        let text = String(describing: cause)
        return text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
    }

    /// This error with a sentence more, for a caller who knows what follows from it.
    package func adding(_ sentence: Message, code: Code? = nil, version: AppVersion? = nil)
        -> MigrationError
    {
        MigrationError(
            code ?? self.code,
            manager: managerName,
            version: version ?? self.version,
            path: path,
            underlying: underlyingError,
            isTransient: isTransient,
            "\(description) \(sentence)"
        )
    }

    /// This error, naming what made the restore necessary.
    func following(_ cause: any Error) -> MigrationError {
        adding("The migration itself had failed: \(Self.sentence(cause))")
    }
}
