import AppMigrations
import Foundation
import GRDB

/// The start of the server, and the commands of its administrator.
@main struct Program {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let folder = arguments.first, folder.hasPrefix("/") else {
            print("site FOLDER [status | reset VERSION | forget-state]")
            exit(64)
        }
        do {
            try run(Array(arguments.dropFirst()), Site(folder: folder))
        } catch {
            print(error)
            exit(1)
        }
    }

    static func run(_ command: [String], _ site: Site) throws {
        switch command {
        case []:
            let pool = try site.start { print($0) }
            // A server would serve here, until it gets SIGTERM.
            try pool.close()
        case ["status"]:
            print(try site.readiness())
            print(try site.manager(isReadOnly: true).status)
        case ["forget-state"]:
            print(try site.forgetState() ?? "There is no state.")
        default:
            guard command.count == 2, command[0] == "reset" else {
                throw SiteError(description: "There is no such command.")
            }
            try site.reset(to: command[1])
        }
    }
}
