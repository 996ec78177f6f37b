extension MigrationGate {
    /// The error of a start whose data needs a newer release of the app.
    ///
    /// A gate throws it if the state of a manager says so. Throw it from the start if the data stores its
    /// version elsewhere, such as in a database with a version number of its own. A manager's `firstRun:` can
    /// throw it too. Then ``MigrationGate/states`` show ``State-enum/requiresAppVersion(_:)``.
    ///
    /// Don't throw it from the closure of a migration or of `migrateStaged`. They wrap the errors that they
    /// throw, and the gate reports a wrapped error as ``State-enum/failed(_:)``.
    public struct RequiresAppVersion: Error, CustomStringConvertible {
        /// The oldest version that may use the data.
        public let version: AppVersion

        /// The manager whose data it is.
        public let managerName: String

        /// Makes an error for the start to throw.
        public init(version: AppVersion, managerName: String) {
            self.version = version
            self.managerName = managerName
        }

        public var description: String {
            """
            The data of manager "\(managerName)" needs version \(version) of the app or a newer one. None of its migrations was run. \
            Update the app.
            """
        }
    }
}
