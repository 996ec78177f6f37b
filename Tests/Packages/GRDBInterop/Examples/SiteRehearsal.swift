import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import GRDB

@testable import SiteServer

/// The data of a new install: a post with its upload, and settings.
private func makeSite(in folder: String) throws -> Site {
    let site = Site(folder: folder)
    let pool = try site.start { print($0) }
    // The same data as in the folders of the old releases.
    try site.addPost("Hello World", "cat.jpg", pool)
    try site.saveQuota(of: 20 << 20)
    // Otherwise rows would be only in the WAL file.
    try pool.close()
    return site
}

func rehearse(fixtures: String) throws -> RehearsalReport {
    let rehearsal = Rehearsal(
        named: "Site",
        currentVersion: "1.5",
        from: [
            .version("1.3", copying: fixtures + "/1.3"),
            .version("1.4", copying: fixtures + "/1.4"),
            StartingPoint.version("1.5") { folder in
                let site = try makeSite(in: folder)
                let files = FileManager.default
                try files.removeItem(atPath: site.uploads)
                try files.copyItem(
                    atPath: fixtures + "/1.4/uploads",
                    toPath: site.uploads
                )
            }.labeled("uploads of 1.4 alone"),
            .freshInstall { folder in
                _ = try makeSite(in: folder)
            },
        ],
        comparing: [
            .comparing(
                "*.sqlite",
                by: SQLiteComparison().difference
            ),
            .ignoring("*.sqlite-*"),
        ]
    )
    return try rehearsal.run(
        firstRun: { try Site(folder: $0).firstRun() },
        before: "1.5"
    ) { migrations, folder in
        try Site(folder: folder).migrate(migrations)
    }
}
