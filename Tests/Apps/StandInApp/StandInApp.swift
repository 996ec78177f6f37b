import AppMigrations

/// An app as the tests need it: its migrations change files in place, and leave a trace that shows each run of a closure.
///
/// It dies or throws where it is told to. A closure that runs again finds out what an earlier attempt has done.
@main
struct StandInApp {
    let arguments: Arguments

    static func main() {
        if CommandLine.arguments.dropFirst().elementsEqual(["--serve"]) { serve() }
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
            System.say(Arguments.usage)
            System.leave(64)
        }
        do {
            System.say(try StandInApp(arguments: arguments).start())
            System.leave(0)
        } catch let error as MigrationError {
            System.say("\(error.code)\t\(error.path ?? "-")\t\(error.description)")
            System.leave(3)
        } catch {
            System.say("other\t-\t\(error)")
            System.leave(4)
        }
    }

    private static func serve() -> Never {
        Task {
            await Server().run()
            System.leave(0)
        }
        System.rest()
    }

    private func start() throws -> String {
        let arguments = arguments
        if arguments.isForgetting {
            let path = try MigrationManager.forgetState(
                named: arguments.name,
                stateDirectory: arguments.state
            )
            return path ?? "nothing to forget"
        }
        let options = MigrationManager.Options(
            lockTimeout: arguments.timeout.map { .milliseconds($0) },
            attemptLimit: arguments.attemptLimit,
            upgradesFrom: arguments.upgradesFrom,
            isReadOnly: arguments.isLooking,
            onEvent: { event in
                if let duration = event.duration, duration < .zero {
                    System.say("\(event.kind) took \(duration)")
                    System.leave(5)
                }
                if event.kind == .filesFound { System.say("found \(event.note ?? "-")") }
                if event.kind == .leftoverNotRemoved { System.say("left \(event.error?.path ?? "-")") }
                if arguments.death == "\(event.kind):\(event.version.map(\.description) ?? "-")" {
                    System.die()
                }
            }
        )
        let migrations = try MigrationManager(
            named: arguments.name,
            currentVersion: arguments.current,
            firstRun: firstRun,
            stateDirectory: arguments.state,
            options: options
        )
        if arguments.isLooking { return try look(migrations) }
        if let version = arguments.reset { try migrations.reset(to: version) }
        var ran: [String] = []
        for version in arguments.declared {
            if try declare(version, in: migrations) { ran.append(version) }
        }
        return "\(migrations.launch) ran \(ran.joined(separator: " ")), last run \(migrations.lastRunVersion)"
            + (migrations.requiredAppVersion.map { ", required \($0)" } ?? "")
    }

    private func declare(_ version: String, in migrations: MigrationManager) throws -> Bool {
        let minimumAppVersion = arguments.floors.contains(version) ? version : nil
        if let replaced = arguments.replaced {
            return try migrations.whenMigrating(
                toVersion: version,
                minimumAppVersion: minimumAppVersion,
                replacing: replaced
            ) { copy, context in try migrate(version, copy, context) }
        }
        return try migrations.whenMigrating(
            toVersion: version,
            minimumAppVersion: minimumAppVersion
        ) { context in try migrate(version, context) }
    }

    private func look(_ migrations: MigrationManager) throws -> String {
        let plan = try migrations.plan { migrations in
            for version in arguments.declared { try migrations.whenMigrating(toVersion: version) {} }
        }
        return "\(migrations.launch) plans \(plan.map(\.description).joined(separator: ", "))"
    }

    private var firstRun: MigrationManager.FirstRun {
        switch arguments.first {
        case "fresh": .freshInstall
        case "everything": .everything
        default: .existingData(at: arguments.first)
        }
    }

    private func dieIfTold(_ point: String, _ version: String) {
        if arguments.death == "\(point):\(version)" { System.die() }
    }

    private func migrate(_ version: String, _ context: MigrationContext) throws {
        dieIfTold("begin", version)
        if let trace = arguments.trace { try System.append("\(version) \(context.attempt)\n", to: trace) }
        if arguments.steps > 0 { return try takeSteps(version, context) }
        if let data = arguments.data { try changeFirstHalf(data, version) }
        dieIfTold("middle", version)
        if arguments.holding == version { System.waitForEndOfInput() }
        if arguments.throwing == version, !(arguments.throwsOnce && context.isRetry) {
            throw System.Failure(description: "told to throw in \(version)")
        }
        if let data = arguments.data {
            try changeSecondHalf(data, version)
            if arguments.synchronizing.contains(version) { try context.synchronize([data]) }
        }
        dieIfTold("end", version)
    }
}

extension StandInApp {
    /// Does what no attempt has done yet by its checkpoint, and saves how far it came.
    private func takeSteps(_ version: String, _ context: MigrationContext) throws {
        guard let data = arguments.data else { return }
        let done = try context.checkpoint(as: Int.self) ?? 0
        for step in done + 1..<arguments.steps + 1 {
            let file = "\(data)/step-\(version)-\(step)"
            // A death can leave a file without its line.
            if System.exists(file) { try System.remove(file) }
            try System.append("\(step)\n", to: file, exclusively: true)
            try context.synchronize([file])
            if let trace = arguments.trace { try System.append("\(version) \(step)\n", to: trace + "-steps") }
            try context.saveCheckpoint(step, progress: Double(step) / Double(arguments.steps))
            dieIfTold("step-\(step)", version)
        }
    }
}

/// The copy of a file or of a folder: what is done twice shows twice.
extension StandInApp {
    private func migrate(_ version: String, _ copy: String, _ context: MigrationContext) throws {
        dieIfTold("begin", version)
        if let trace = arguments.trace { try System.append("\(version) \(context.attempt)\n", to: trace) }
        if arguments.makesFolder, !System.exists(copy) { try System.makeFolder(copy) }
        let isFolder = arguments.makesFolder || System.exists("\(copy)/file")
        try System.append("\(version)\n", to: isFolder ? "\(copy)/file" : copy)
        dieIfTold("middle", version)
        if arguments.holding == version { System.waitForEndOfInput() }
        if arguments.throwing == version, !(arguments.throwsOnce && context.isRetry) {
            throw System.Failure(description: "told to throw in \(version)")
        }
        if System.exists("\(copy)/folder") {
            let old = "\(copy)/folder/old-\(version)"
            if System.exists(old) { try System.remove(old) }
            try System.append("\(version)\n", to: "\(copy)/folder/inner/log")
            try System.append("\(version)\n", to: "\(copy)/folder/new-\(version)")
        }
        dieIfTold("end", version)
    }
}

/// The files: `file`, `folder`, and `created` and `fresh-1.1`, which aren't there before.
extension StandInApp {
    private func changeFirstHalf(_ data: String, _ version: String) throws {
        try System.addLine(version, to: "\(data)/file")
        let old = "\(data)/folder/old-\(version)"
        if System.exists(old) { try System.remove(old) }
        try System.addLine(version, to: "\(data)/created")
    }

    private func changeSecondHalf(_ data: String, _ version: String) throws {
        try System.addLine(version, to: "\(data)/folder/inner/log")
        try System.addLine(version, to: "\(data)/folder/new-\(version)")
        try System.addLine(version, to: "\(data)/fresh-\(version)")
    }
}
