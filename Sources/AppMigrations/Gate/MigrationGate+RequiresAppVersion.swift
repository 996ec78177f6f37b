extension MigrationGate {
    /// An error that says that the data needs a newer release of the app.
    ///
    /// A gate throws it if a manager's state requires a newer release. Throw it yourself in the gate's start
    /// if the data stores its version elsewhere, such as in a database with its own version number. A
    /// manager's `firstRun:` and the closure of a migration can throw it too. In all of these cases,
    /// ``MigrationGate/states`` yields ``State-enum/requiresAppVersion(_:)``.
    public struct RequiresAppVersion: Error, CustomStringConvertible {
        /// The oldest version of the app that may use the data.
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

extension MigrationGate.RequiresAppVersion: AdvisedError {
    package var userAdvice: MigrationAdvice? { .updateApp }
}
