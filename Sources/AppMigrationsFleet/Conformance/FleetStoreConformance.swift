/// Runs the promises that a store of a fleet has to keep, so that a store of your own is known to be right.
///
/// ```swift
/// @Test func `the store keeps its promises`() async {
///     let conformance = FleetStoreConformance(
///         firstStore,
///         others: [secondStore],
///         unreachable: storeWithoutServer
///     )
///     #expect(await conformance.findings().isEmpty)
/// }
/// ```
///
/// It makes some thirty documents, whose names begin with `conformance-` and a random number, and leaves
/// them.
public struct FleetStoreConformance: Sendable {
    let hosts: [any FleetStore]
    let unreachable: (any FleetStore)?
    let prefix: String
    let writers: Int
    let rounds: Int

    /// Names the stores to be tried, and tries nothing yet.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - others: Stores of the same place, as other hosts have them, each with a connection of its own.
    ///   - unreachable: A store whose server doesn't answer, which has to throw; `nil` leaves that out.
    ///   - writers: How many tasks replace one document at once.
    ///   - rounds: How often each of them does.
    public init(
        _ store: any FleetStore,
        others: [any FleetStore] = [],
        unreachable: (any FleetStore)? = nil,
        writers: Int = 16,
        rounds: Int = 16
    ) {
        hosts = [store] + others
        self.unreachable = unreachable
        self.writers = writers
        self.rounds = rounds
        prefix = "conformance-\(UInt64.random(in: 0 ... .max))"
    }

    /// Tries each promise; gives at most one finding for each.
    public func findings() async -> [FleetStoreFinding] {
        var findings: [FleetStoreFinding] = []
        let checks: [(FleetStoreFinding.Kind, () async throws -> String?)] = [
            (.absence, absence), (.creation, creation), (.comparison, comparison), (.revisions, revisions),
            (.freshness, freshness), (.bytes, bytes), (.names, names), (.concurrency, concurrency),
            (.errors, errors),
        ]
        for (promise, check) in checks {
            do {
                if let problem = try await check() { findings.append(FleetStoreFinding(promise, problem)) }
            } catch {
                findings.append(FleetStoreFinding(promise, "A call threw \(error)."))
            }
        }
        return findings
    }

    /// The store of the host with a number, as often as the numbers go round.
    func host(_ number: Int) -> any FleetStore { hosts[number % hosts.count] }

    /// Makes a document, and gives its revision.
    func make(_ name: String, _ text: String, host number: Int = 0) async throws -> FleetRevision {
        let made = try await host(number).replaceDocument(
            named: name,
            ifRevision: nil,
            with: Array(text.utf8)
        )
        guard let made else { throw refused(name) }
        return made
    }

    func refused(_ name: String) -> FleetStoreFinding {
        FleetStoreFinding(.creation, "The first document \"\(name)\" was refused")
    }
}
