import AppMigrations

#if canImport(SwiftUI)
import SwiftUI
#endif

// The samples of "A progress screen with SwiftUI", as they stand there.

func declareLibrary(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(toVersion: "1.1") { context in
        for (index, folder) in folders.enumerated() {
            try rename(folder)
            context.reportProgress(Double(index + 1) / Double(folders.count), note: folder)
        }
    }
    try migrations.whenMigrating(toVersion: "1.4") { try deleteCaches() }
}

enum Update: Sendable {
    case steps(Int)
    case event(MigrationEvent)
}

struct UpdateProgress {
    var steps = 0
    var done = 0
    var fraction = 0.0
    var note: String?

    mutating func apply(_ update: Update) {
        switch update {
        case .steps(let count): steps = count
        case .event(let event) where event.kind == .progressed:
            fraction = event.fraction ?? fraction
            note = event.note
        case .event(let event) where event.kind == .finished:
            done += 1
            fraction = 0
        case .event: break
        }
    }

    var overall: Double { steps == 0 ? 1 : (Double(done) + fraction) / Double(steps) }
}

func updates(in folder: String, appVersion: String) -> AsyncThrowingStream<Update, any Error> {
    AsyncThrowingStream { continuation in
        Task.detached {
            do {
                let options = MigrationManager.Options { continuation.yield(.event($0)) }
                let migrations = try MigrationManager(
                    named: "Library",
                    currentVersion: appVersion,
                    stateDirectory: folder,
                    options: options
                )
                let plan = try migrations.plan(declareLibrary)
                continuation.yield(.steps(plan.filter { $0.kind == .willRun }.count))
                try declareLibrary(migrations)
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }
}

#if canImport(SwiftUI)
struct UpdateView: View {
    let folder: String
    let appVersion: String
    let whenDone: (Result<Void, any Error>) -> Void
    @State private var progress = UpdateProgress()

    var body: some View {
        VStack {
            if progress.steps > 0 {
                ProgressView(value: progress.overall) { Text("Updating…") }
                Text(progress.note ?? " ").font(.footnote)
            }
        }
        .task {
            do {
                for try await update in updates(in: folder, appVersion: appVersion) { progress.apply(update) }
                whenDone(.success(()))
            } catch {
                whenDone(.failure(error))
            }
        }
    }
}
#endif

private let folders = ["Letters", "Drafts"]
private func rename(_ folder: String) throws {}
private func deleteCaches() throws {}
