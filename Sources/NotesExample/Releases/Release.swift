/// One release of the app: what it added to the migrations of its two managers.
///
/// A release knows itself and those before it. To add one, write its steps and put it at the end of `all`.
struct Release: Sendable {
    let version: String
    var library: [Step] = []
    var preferences: [Step] = []
    /// The schema of the database, where the release brought another one.
    var schema: NotesDatabase.Schema?

    static let all: [Release] = [.v1_0, .v1_1, .v1_2_5, .v2_0, .v2_1, .v3_0, .v3_1]

    /// This release and those before it: all that could be declared when it was built.
    var history: [Release] { Self.all.prefix { $0.version != version } + [self] }
}

/// One migration of the app, which may be repeated after it died at any point.
struct Step: Sendable {
    let version: String
    let summary: String
    let run: @Sendable (StepContext) throws -> Void
}

/// The tools of a step while it runs.
struct StepContext {
    let folder: NotesFolder
    let reportProgress: (_ fraction: Double, _ note: String) -> Void
    /// The place that an earlier attempt came to, and the call that saves one for the next attempt.
    var checkpoint: () throws -> Int? = { nil }
    var saveCheckpoint: (_ place: Int, _ progress: Double) throws -> Void = { _, _ in }

    var library: NotesLibrary { NotesLibrary(folder: folder) }

    /// The layout of the notes, which is the one that the step before has left, or a later one.
    func layout(from oldest: NotesLibrary.Layout) throws -> NotesLibrary.Layout {
        let layout = try library.layout()
        guard layout >= oldest else {
            throw NotesError(
                "\(folder.path) has its notes as \(layout.rawValue) left them, not \(oldest.rawValue)."
            )
        }
        return layout
    }

    /// Does something for each element, and tells every quarter of the way.
    func forEach<Element>(
        _ elements: [Element],
        of things: String,
        do work: (Element) throws -> Void
    ) throws {
        for (done, element) in elements.enumerated() {
            try work(element)
            let quarters = (done + 1) * 4 / elements.count
            guard quarters > done * 4 / elements.count else { continue }
            reportProgress(Double(quarters) / 4, "\(done + 1) of \(elements.count) \(things)")
        }
    }
}
