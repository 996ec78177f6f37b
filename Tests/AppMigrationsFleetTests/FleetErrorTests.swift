import AppMigrations
import Testing

@testable import AppMigrationsFleet

@Suite struct FleetErrorTests {
    struct Row: Sendable {
        let error: MigrationError
        let code: MigrationError.Code
        let text: String

        init(_ code: MigrationError.Code, _ error: MigrationError, _ text: String) {
            (self.code, self.error, self.text) = (code, error, text)
        }
    }

    private static let location = StateLocation(
        name: "Data",
        directory: "a, process 7, f00",
        store: "the fleet's store"
    )
    private static let version = AppVersion("1.2") ?? .zero

    /// A lease that was lost for a reason.
    private static func lost(_ loss: LeaseLoss, _ reason: String) -> Row {
        Row(
            .leaseLost,
            location.leaseLost(loss, version: version),
            """
            This host lost its lease on migration 1.2 of manager "Data" (document "Data" in the fleet's store): \(reason). The \
            migration was not recorded, and runs again here or on another host. Whatever its closure changed outside of the store \
            is not undone. Create a new manager, which reads the state again.
            """
        )
    }

    static let rows = [
        lost(.notRenewed(.seconds(15)), "it could not be renewed in the store for 15.0 seconds"),
        lost(.taken(by: "b, process 8, f01"), "b, process 8, f01 has taken over"),
        lost(
            .documentIsOlder,
            "the store has an older document than the one that this host saved, as after a failover or a restored backup"
        ),
        lost(.taken(by: nil), "another host has replaced the document"),
        Row(
            .lockTimeout,
            location.timedOut(after: .seconds(20), waitingFor: "b, process 8, f01", version: version)
                .leaving(.migration(version)),
            """
            The manager "Data" (document "Data" in the fleet's store) waited 20.0 seconds for b, process 8, f01. Migration 1.2 was \
            not run. Let it finish, and start again.
            """
        ),
        Row(
            .stateNotSaved,
            location.notSaved(because: nil, version: version, consequence: "Migration 1.2 was not run."),
            """
            The state of manager "Data" (document "Data" in the fleet's store) could not be saved: the store refused every try, \
            as if another host had changed the state, but none had. The store has the old state. Migration 1.2 was not run. Try \
            again.
            """
        ),
        Row(
            .stateNotSaved,
            location.commitUnanswered(TestStore.Failure(), version: version),
            """
            It is not known whether migration 1.2 of manager "Data" (document "Data" in the fleet's store) was committed: the \
            network is gone. The server has not ended the transaction yet. The database has either both the work and the \
            record of the migration, or neither. Create a new manager, which reads the state again.
            """
        ),
    ]

    @Test func `an answer for which no time was left has a text of its own`() {
        #expect(Overdue(limit: .zero).description == "there was no time left for an answer")
        #expect(Overdue(limit: .seconds(-2)).description == "there was no time left for an answer")
    }

    @Test(arguments: rows) func `each error says what happened, where, what was not changed and what to do`(
        _ row: Row
    ) {
        #expect(row.error.description == row.text)
        #expect(row.error.code == row.code)
        #expect(row.error.managerName == "Data")
        #expect(row.error.version == Self.version)
        #expect(row.error.path == nil)
        #expect(row.error.isTransient)
    }
}
