extension MigrationError {
    package static func failed(
        _ version: AppVersion,
        attempt: Int,
        _ cause: any Error,
        _ location: StateLocation,
        consequence: Message = "",
        isTransient: Bool = false
    ) -> MigrationError {
        let isCancelled = isCancellation(cause)
        var end: Message = "failed in attempt \(attempt): \(sentence(cause))"
        if isCancelled {
            let more = (cause as? MigrationError).map { " " + sentence($0) } ?? ""
            end = "was cancelled in attempt \(attempt).\(more)"
        }
        let text: Message = """
            Migration \(version) of \(location) \(end) \
            It is not recorded, and runs again with the next manager.\(consequence)
            """
        let code: Code = isCancelled ? .cancelled : .migrationFailed
        return location.error(code, version, because: cause, isTransient: isTransient, text)
    }

    static func isCancellation(_ cause: any Error) -> Bool {
        cause is CancellationError || (cause as? MigrationError)?.code == .cancelled
    }

    /// Somebody else's text for an error, with one mark at its end.
    package static func sentence(_ cause: any Error) -> String {
        let text = String(describing: cause)
        return text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
    }

    /// This error, naming what made the restore necessary.
    func following(_ cause: any Error) -> MigrationError {
        adding("The migration itself had failed: \(Self.sentence(cause))")
    }
}
