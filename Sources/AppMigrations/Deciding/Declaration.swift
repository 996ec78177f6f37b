/// A migration as the app declares it: the parameters of every `whenMigrating`, but for its closure.
///
/// It serves the core, the SQL modules, the fleet and the product for old libraries alike.
package struct Declaration {
    let toVersion: String
    let addedIn: String?
    let minimumAppVersion: String?

    /// The path of the file or folder on whose copy the closure works; `nil` if it works in place.
    let replacing: String?

    /// The record that another library keeps of the same migrations; `nil` if there is none.
    let otherRecord: OtherRecord?

    package init(
        _ toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        replacing: String? = nil,
        otherRecord: OtherRecord? = nil
    ) {
        self.toVersion = toVersion
        self.addedIn = addedIn
        self.minimumAppVersion = minimumAppVersion
        self.replacing = replacing
        self.otherRecord = otherRecord
    }

    /// True if the version alone decides, so that a declaration of a version that has run can return at once.
    package var isDecidedByVersion: Bool { addedIn == nil && minimumAppVersion == nil }

    /// The version; `nil` if the text isn't one.
    package var version: AppVersion? { AppVersion(toVersion) }

    /// Reads the versions.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    func read(in location: StateLocation) throws(MigrationError) -> DeclaredMigration {
        let version = try AppVersion(toVersion) { problem in
            location.error(
                .invalidVersion,
                "\(problem) It is declared in \(location).",
                advice: VersionReader.grammar
            )
        }
        func read(_ text: String?, _ parameter: Message) throws(MigrationError) -> AppVersion? {
            guard let text else { return nil }
            return try AppVersion(text) { problem in
                location.error(
                    .invalidVersion,
                    version: version,
                    "\(problem) It is the \(parameter) of migration \(version) in \(location).",
                    advice: VersionReader.grammar
                )
            }
        }
        return DeclaredMigration(
            version: version,
            addedIn: try read(addedIn, "addedIn:"),
            minimumAppVersion: try read(minimumAppVersion, "minimumAppVersion:") ?? .zero
        )
    }
}
