import AppMigrationsFleet
import Testing

@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetStoreConformanceTests {
    @Test(arguments: BrokenStore.allCases) func `each broken promise is found`(_ fault: BrokenStore) async {
        let store = StoreWithFault(fault)
        let unreachable: (any FleetStore)? = fault == .silentWithoutServer ? SilentStore() : nil
        let findings = await FleetStoreConformance(
            store,
            unreachable: unreachable,
            writers: 4,
            rounds: 4
        ).findings()
        #expect(findings.contains { $0.kind.description == fault.promise }, "\(findings)")
    }

    @Test func `the store in memory keeps every promise`() async {
        let store = InMemoryFleetStore()
        let findings = await FleetStoreConformance(store, others: [store, store]).findings()
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `a number and its text are the same revision`() {
        #expect(FleetRevision(7) == FleetRevision("7"))
        #expect(FleetRevision(7) != FleetRevision(8))
    }

    @Test func `a finding says what was done and what came back`() async throws {
        let findings = await FleetStoreConformance(StoreWithFault(.trims), writers: 2, rounds: 2).findings()
        let finding = try #require(findings.first { $0.kind == .bytes })
        #expect(
            finding.description
                == #"Text 1 of 19 bytes was read as "{\#n  "name" : "x"\#n}", 18 bytes of revision \#(Self.revision(in: finding))."#
        )
    }

    @Test(
        arguments: [
            (BrokenStore.lowersNames, FleetStoreFinding.Kind.names, "A\" was refused."),
            (.losesDocuments, .concurrency, "Host 0 read nothing instead of a number."),
        ]
    )
    func `a check that can't go on says why, in its own words`(
        _ fault: BrokenStore,
        _ kind: FleetStoreFinding.Kind,
        _ ending: String
    ) async throws {
        let findings = await FleetStoreConformance(StoreWithFault(fault), writers: 2, rounds: 2).findings()
        let finding = try #require(findings.first { $0.kind == kind })
        #expect(finding.description.hasSuffix(ending))
        #expect(!finding.description.contains("A call threw"))
    }

    private static func revision(in finding: FleetStoreFinding) -> String {
        finding.description.split(separator: " ").last { Int($0.dropLast()) != nil && $0.hasSuffix(".") }
            .map { String($0.dropLast()) } ?? ""
    }
}
