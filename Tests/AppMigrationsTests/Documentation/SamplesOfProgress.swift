import AppMigrations
import Synchronization

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

struct UpdateProgress: Sendable {
    var steps = 0
    var done = 0
    var fraction = 0.0
    var note: String?

    mutating func apply(_ event: MigrationEvent) {
        switch event.kind {
        case .progressed:
            fraction = event.fraction ?? fraction
            note = event.note
        case .finished:
            done += 1
            fraction = 0
        default: break
        }
    }

    var overall: Double { steps == 0 ? 1 : (Double(done) + fraction) / Double(steps) }
}

func updates(in folder: String, appVersion: String) -> AsyncThrowingStream<UpdateProgress, any Error> {
    AsyncThrowingStream { continuation in
        Task.detached {
            do {
                let progress = Mutex(UpdateProgress())
                let options = MigrationManager.Options { event in
                    continuation.yield(
                        progress.withLock {
                            $0.apply(event); return $0
                        }
                    )
                }
                let migrations = try MigrationManager(
                    named: "Library",
                    currentVersion: appVersion,
                    stateDirectory: folder,
                    options: options
                )
                let steps = try migrations.plan(declareLibrary).count { $0.kind == .willRun }
                progress.withLock { $0.steps = steps }
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
    @State private var progress: UpdateProgress?

    var body: some View {
        VStack {
            if let progress {
                ProgressView(value: progress.overall) { Text("Updating…") }
                Text(progress.note ?? " ").font(.footnote)
            }
        }
        .task {
            do {
                for try await next in updates(in: folder, appVersion: appVersion) { progress = next }
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
