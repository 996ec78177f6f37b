/// A release of the app, with the migrations that it added to the app's two managers.
///
/// To add a release, write its steps and append it to ``all``.
struct Release: Sendable {
    let version: String
    var library: [Step] = []
    var preferences: [Step] = []
    /// The schema of the database, if this release changed it.
    var schema: NotesDatabase.Schema?

    static let all: [Release] = [.v1_0, .v1_1, .v1_2_5, .v2_0, .v2_1, .v3_0, .v3_1]

    /// This release and all before it: a release declares the migrations of all of them.
    var history: [Release] { Self.all.prefix { $0.version != version } + [self] }
}

/// A migration of the app.
///
/// It can run again after a crash at any point.
struct Step: Sendable {
    let version: String
    let summary: String
    let run: @Sendable (StepContext) throws -> Void
}

/// What a step needs while it runs.
struct StepContext {
    let folder: NotesFolder
    let reportProgress: (_ fraction: Double, _ note: String) -> Void
    /// Returns how far an earlier attempt came.
    var checkpoint: () throws -> Int? = { nil }
    /// Saves how far this attempt has come, for the next one.
    var saveCheckpoint: (_ place: Int, _ progress: Double) throws -> Void = { _, _ in }

    var library: NotesLibrary { NotesLibrary(folder: folder) }

    /// Returns the layout of the notes.
    ///
    /// It throws if the layout is older than `oldest`, which the step before has left.
    func layout(from oldest: NotesLibrary.Layout) throws -> NotesLibrary.Layout {
        let layout = try library.layout()
        guard layout >= oldest else {
            throw NotesError(
                "\(folder.path) has its notes as \(layout.rawValue) left them, not \(oldest.rawValue)."
            )
        }
        return layout
    }

    /// Calls `work` with each element, and reports the progress after each quarter.
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
