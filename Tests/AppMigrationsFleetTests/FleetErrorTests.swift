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
            location.leaseLost(loss, version),
            """
            This host lost its lease on migration 1.2 of manager "Data" (document "Data" in the fleet's store): \(reason). Nothing \
            of it was recorded: it runs again, here or elsewhere. What its closure did outside of the store stays. Make a new \
            manager, which reads the state again.
            """
        )
    }

    static let rows = [
        lost(.notRenewed(.seconds(15)), "it could not be renewed in the store for 15.0 seconds"),
        lost(.taken(by: "b, process 8, f01"), "b, process 8, f01 has taken over"),
        lost(.setBack, "the store has gone back to an older document than was saved in it"),
        lost(.taken(by: nil), "another host has written the document since"),
        Row(
            .lockTimeout,
            location.timedOut(.seconds(20), "b, process 8, f01", version),
            """
            Manager "Data" waited 20.0 seconds for b, process 8, f01, at work on document "Data" in the fleet's store. Nothing was \
            run and the state is unchanged. Let it finish and start again.
            """
        ),
        Row(
            .stateNotSaved,
            location.notSaved(nil, version, "Migration 1.2 was not run."),
            """
            The state of manager "Data" (document "Data" in the fleet's store) could not be saved: The store refused it each time, \
            as if another host had been faster. The old state stands. Migration 1.2 was not run. Try again when the store can be \
            reached.
            """
        ),
        Row(
            .stateNotSaved,
            location.commitUnanswered(TestStore.Failure(), version),
            """
            Whether migration 1.2 of manager "Data" (document "Data" in the fleet's store) was committed is not known: the network \
            is gone. The server is still at it. It is in the database and recorded, or neither. Make a new manager, which reads \
            that.
            """
        ),
    ]

    @Test(arguments: rows) func `each error says what happened, where, what was not changed and what to do`(
        _ row: Row
    ) {
        #expect(row.error.description == row.text)
        #expect(row.error.code == row.code)
        #expect(row.error.managerName == "Data")
        #expect(row.error.version == Self.version)
        #expect(row.error.path == nil)
        #expect(row.error.isTransient == (row.code == .lockTimeout))
    }
}
