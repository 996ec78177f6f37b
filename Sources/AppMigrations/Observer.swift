/// What watches a manager that isn't the app's own: a plan or a rehearsal.
///
/// The manager has one reference to it, which is `nil` in an app, so that neither costs a start anything.
final class Observer: Sendable {
    let planner: PlanRecorder?
    let rehearsal: RehearsalHook?

    init(planner: PlanRecorder? = nil, rehearsal: RehearsalHook? = nil) {
        self.planner = planner
        self.rehearsal = rehearsal
    }
}
