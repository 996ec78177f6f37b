extension AppVersion {
    /// Reads a version such as `1.4` or `1.1-2`.
    ///
    /// - Parameter text: One or more components of ASCII digits divided by dots, then at most one hyphen and
    ///   sub-number. Nothing else: no spaces, no `v`, no `-beta`, no `+5`.
    /// - Throws: ``MigrationError`` with the code ``MigrationError/Code/invalidVersion``, which says what is
    ///   wrong, at which character, and what the grammar is.
    public init(parsing text: some StringProtocol) throws(MigrationError) {
        let text = String(text)
        do throws(VersionReader.Problem) {
            self = try VersionReader.read(text)
        } catch {
            throw MigrationError(.invalidVersion, error.description(of: text))
        }
    }

    /// Reads a version that was given to a manager.
    package init(_ text: String, manager: String) throws(MigrationError) {
        do throws(VersionReader.Problem) {
            self = try VersionReader.read(text)
        } catch {
            let end: Message = "Nothing was run by manager \(manager.quoted)."
            throw MigrationError(.invalidVersion, manager: manager, "\(error.description(of: text)) \(end)")
        }
    }
}
