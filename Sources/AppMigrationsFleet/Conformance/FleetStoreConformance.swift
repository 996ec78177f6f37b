/// Tests whether a store keeps the promises of ``FleetStore``.
///
/// Use it to test a store of your own.
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
/// It creates about thirty documents, and doesn't delete them. Their names begin with `conformance-` and a
/// random number.
public struct FleetStoreConformance: Sendable {
    let hosts: [any FleetStore]
    let unreachable: (any FleetStore)?
    let prefix: String
    let writers: Int
    let rounds: Int

    /// Creates a test.
    ///
    /// It calls no store before ``findings()`` is called.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - others: More stores that keep the same documents, as the other hosts of a fleet have them. Each
    ///     has a connection of its own.
    ///   - unreachable: A store whose server can't be reached. Its calls have to throw. `nil` skips this
    ///     test.
    ///   - writers: How many tasks replace one document at once.
    ///   - rounds: How many times each of these tasks replaces the document.
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

    /// Tests each promise, and returns at most one finding for each.
    public func findings() async -> [FleetStoreFinding] {
        var findings: [FleetStoreFinding] = []
        let checks: [(FleetStoreFinding.Kind, () async throws -> String?)] = [
            (.absence, checkAbsence), (.creation, checkCreation), (.comparison, checkComparison),
            (.revisions, checkRevisions), (.freshness, checkFreshness), (.bytes, checkBytes),
            (.names, checkNames), (.concurrency, checkConcurrency), (.errors, checkErrors),
        ]
        for (kind, check) in checks {
            do {
                if let problem = try await check() {
                    findings.append(FleetStoreFinding(of: kind, description: problem))
                }
            } catch let finding as FleetStoreFinding {
                findings.append(FleetStoreFinding(of: kind, description: finding.description))
            } catch {
                findings.append(FleetStoreFinding(of: kind, description: "A call threw \(error)."))
            }
        }
        return findings
    }

    /// The store of a host.
    ///
    /// The numbers after the last host begin again with the first.
    func host(_ number: Int) -> any FleetStore { hosts[number % hosts.count] }

    /// Creates a document, and returns its revision.
    func create(_ name: String, text: String, host number: Int = 0) async throws -> FleetRevision {
        let made = try await host(number).replaceDocument(
            named: name,
            ifRevision: nil,
            with: Array(text.utf8)
        )
        guard let made else {
            throw FleetStoreFinding(
                of: .creation,
                description: "The first document \"\(name)\" was refused."
            )
        }
        return made
    }
}
