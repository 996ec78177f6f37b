/// What a state says at one moment, for a screen, a log or a support mail.
///
/// ``MigrationManager/status`` reads it. ``description`` is a text for a person. As JSON it has the keys of the state
/// file where the state has the member too, and leaves out what has no value:
///
/// ```json
/// { "name" : "Library", "appVersion" : "1.5",
///   "stateFile" : "…/Library.migrations.json",
///   "lastRunVersion" : "1.4", "baseline" : "1.1",
///   "launchedVersion" : "1.5",
///   "interruption" : { "version" : "1.5", "attempts" : 2,
///     "deaths" : 1, "appVersion" : "1.5",
///     "startedAt" : "2026-11-21T03:54:28Z",
///     "isUnderWay" : false, "awaitsRestore" : false },
///   "attempted" : [],
///   "history" : [ { "version" : "1.4", "previousVersion" : "1.1",
///     "appVersion" : "1.4",
///     "finishedAt" : "2026-11-21T03:54:28Z",
///     "duration" : 0.0123, "attempts" : 1 } ] }
/// ```
public struct MigrationStatus: Sendable, CustomStringConvertible {
    // One reference, as in `MigrationError`: to copy a dozen fields takes code that would lie among that of a start.
    let facts: Facts
}
