import AppMigrations
import SimulatedSystem

/// One declaration of a simulated app.
struct Declaration: Sendable {
    let version: String
    var addedIn: String?
    var minimumAppVersion: String?
    /// What the closure replaces, and its work on the copy, besides beginning and returning.
    var replacing: (path: String, work: @Sendable (String) throws -> Void)?
    /// The closure's work, besides beginning and returning.
    var work: @Sendable (Ghost, MigrationContext) throws -> Void = { _, _ in }
}

struct WorkFailure: Error {}

/// The process died in the middle of a closure, whose rest is refused.
struct Died: Error {}

/// A start of a simulated app.
func app(
    _ current: String,
    _ declarations: [Declaration],
    named name: String = "app",
    manager: String = Ghost.library,
    firstRun: MigrationManager.FirstRun = .existingData(at: "1.0"),
    options: MigrationManager.Options = MigrationManager.Options(lockTimeout: .seconds(10)),
    opened: @escaping @Sendable (Ghost) -> Void = { _ in },
    finally: @escaping @Sendable (Ghost, MigrationManager) throws -> Void = { _, _ in }
) -> Scenario.Program {
    Scenario.Program(name: "\(name) \(current)", isLooking: options.isReadOnly) { ghost in
        do {
            let migrations = try MigrationManager(
                named: manager,
                currentVersion: current,
                firstRun: firstRun,
                stateDirectory: Ghost.folder,
                options: options
            )
            opened(ghost)
            if !Machine.isAlive { throw Died() }
            for declaration in declarations {
                let body = { (copy: String, context: MigrationContext) throws in
                    if !mark("the closure of \(declaration.version) begins") { throw Died() }
                    ghost.begins(declaration.version, of: manager, attempt: context.attempt)
                    do {
                        try declaration.work(ghost, context)
                        try declaration.replacing?.work(copy)
                    } catch {
                        ghost.ends(returning: false)
                        throw error
                    }
                    if !mark("the closure of \(declaration.version) returns") { throw Died() }
                    ghost.ends(returning: true)
                }
                let hasRun: Bool
                if let replacing = declaration.replacing {
                    hasRun = try migrations.whenMigrating(
                        toVersion: declaration.version,
                        addedIn: declaration.addedIn,
                        minimumAppVersion: declaration.minimumAppVersion,
                        replacing: replacing.path,
                        run: body
                    )
                } else {
                    hasRun = try migrations.whenMigrating(
                        toVersion: declaration.version,
                        addedIn: declaration.addedIn,
                        minimumAppVersion: declaration.minimumAppVersion
                    ) { context in try body("", context) }
                }
                if !Machine.isAlive { throw Died() }
                if hasRun {
                    ghost.acknowledge(declaration.version, of: manager)
                } else {
                    ghost.passesOver(declaration.version, of: manager)
                }
            }
            try finally(ghost, migrations)
            return "done"
        } catch let error as MigrationError {
            return "\(error.code)"
        } catch {
            return "\(error)"
        }
    }
}
