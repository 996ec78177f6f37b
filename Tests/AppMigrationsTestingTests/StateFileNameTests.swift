import Testing

@testable import AppMigrations
@testable import AppMigrationsTesting

@Suite struct StateFileNameTests {
    /// The names are those that a state's location gives to its files.
    @Test func `each file of a state is recognized by its name`() {
        let location = StateLocation(name: "Library", directory: "/state")
        let paths = [
            location.state, location.lock, location.forgottenState(at: 0, number: 1),
            location.forgottenState(at: 0, number: 2),
        ]
        for path in paths { #expect(StateFileName.matches(FilePaths.last(path)[...]), "\(path)") }
    }
}
