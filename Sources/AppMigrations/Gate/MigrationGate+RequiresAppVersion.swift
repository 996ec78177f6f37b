extension MigrationGate {
    /// An error that says that the data needs a newer release of the app.
    ///
    /// A gate throws it if a manager's state requires a newer release. Throw it yourself in the start if the
    /// data stores its version elsewhere, such as in a database with a version number of its own. A manager's
    /// `firstRun:` can throw it too. ``MigrationGate/states`` then yields
    /// ``State-enum/requiresAppVersion(_:)``.
    ///
    /// Don't throw it from the closure of a migration or of `migrateStaged`. Errors from these closures are
    /// wrapped, and the gate reports a wrapped error as ``State-enum/failed(_:)``.
    public struct RequiresAppVersion: Error, CustomStringConvertible {
        /// The oldest version that may use the data.
        public let version: AppVersion

        /// The name of the manager whose data needs the newer release.
        public let managerName: String

        /// Creates an error for the start to throw.
        public init(version: AppVersion, managerName: String) {
            self.version = version
            self.managerName = managerName
        }

        public var description: String {
            """
            The data of manager "\(managerName)" needs version \(version) of the app or a newer version. None of the manager's \
            migrations was run. Update the app.
            """
        }
    }
}
