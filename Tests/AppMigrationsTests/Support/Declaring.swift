import AppMigrations
import Testing

struct Refusal: Error {}

struct Failure: Error, CustomStringConvertible {
    var description: String = "The disk is full."
}

extension MigrationManager {
    /// Declares versions with closures that do nothing, and gives those that ran.
    @discardableResult
    func declare(_ versions: String...) throws(MigrationError) -> [String] {
        var ran: [String] = []
        for version in versions {
            let isRun = try whenMigrating(toVersion: version) { ran.append(version) }
            #expect(isRun == (ran.last == version))
        }
        return ran
    }

    /// The error of declaring a version whose closure must not run.
    func refusal(of version: String, _ location: SourceLocation = #_sourceLocation) throws -> MigrationError {
        try #require(throws: MigrationError.self, sourceLocation: location) {
            try whenMigrating(toVersion: version) {
                Issue.record("The closure of \(version) ran.", sourceLocation: location)
            }
        }
    }

    /// The error of a migration whose files can't be protected, so that its closure must not run.
    func refusal(protecting paths: String...) throws -> MigrationError {
        let error = try #require(throws: MigrationError.self) {
            try whenMigrating(toVersion: "1.1", protecting: paths) { Issue.record("The closure ran.") }
        }
        #expect(error.code == .protectionFailed)
        return error
    }

    /// The error of a migration whose closure throws.
    func failure(of version: String, _ error: any Error = Failure()) throws -> MigrationError {
        try #require(throws: MigrationError.self) { try whenMigrating(toVersion: version) { throw error } }
    }
}
