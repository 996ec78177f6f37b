import Testing

@testable import AppMigrations

/// How a start relates to the last one.
struct LaunchTests {
    @Test(
        arguments: [
            ("1.4", "1.4", "1.4", .same), ("1.1", "1.4", "1.4", .same), ("1.4-2", "1.4", "1.4", .same),
            ("1.1", "1.1", "1.4", .upgrade(from: version("1.1"))),
            ("1.1", "1.3", "1.4", .upgrade(from: version("1.3"))),
            ("1.1", "1.4", "1.4-1", .upgrade(from: version("1.4"))),
            ("1.1", "1.5", "1.4", .downgrade(from: version("1.5"))),
            ("1.5", "1.4", "1.4", .downgrade(from: version("1.5"))),
            ("1.5-2", "1.5", "1.4", .downgrade(from: version("1.5"))),
            ("1.4-3", "1.4", "1.4-2", .downgrade(from: version("1.4-3"))),
            ("1.4-3", "1.4-3", "1.4", .same), ("1.4-1", "1.4-3", "1.4-2", .downgrade(from: version("1.4-3"))),
            ("1.4-3", "1.4", "1.3-9", .downgrade(from: version("1.4"))),
        ] as [(String, String, String, MigrationManager.Launch)]
    )
    func `a start is compared with what ran and what was launched`(
        lastRun: String,
        launched: String,
        current: String,
        launch: MigrationManager.Launch
    ) {
        let mark = version(lastRun)
        let marks = StateMarks(lastRun: mark, baseline: mark, launched: version(launched))
        #expect(marks.launch(of: version(current)) == launch)
    }
}
