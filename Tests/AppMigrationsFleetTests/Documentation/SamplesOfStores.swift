import AppMigrations
import AppMigrationsFleet
import AppMigrationsTesting
import Testing

// The samples of "Writing a store", as they stand there.

struct ObjectFleetStore: FleetStore {
    let bucket: any Bucket

    func read(_ name: String) async throws -> FleetDocument? {
        guard let object = try await bucket.get(key(name)) else {
            return nil
        }
        return FleetDocument(
            bytes: Array(object.bytes.dropFirst(17)),
            revision: FleetRevision(object.tag)
        )
    }

    func replace(
        _ name: String,
        at revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        let random = UInt64.random(in: 0 ... .max)
        let number = String(random, radix: 16)
        let zeros = String(repeating: "0", count: 16 - number.count)
        let bytes = Array("\(zeros)\(number)\n".utf8) + document
        // 412 Precondition Failed is `nil`; all other errors throw.
        let tag = try await bucket.put(
            key(name),
            bytes,
            ifMatch: revision?.description
        )
        return tag.map { FleetRevision($0) }
    }

    private func key(_ name: String) -> String {
        let bytes = name.utf8.map { String($0, radix: 16) }
        return "migrations/" + bytes.joined(separator: ".")
    }
}

/// What a client of an object store can do; an object's tag is made of its bytes.
protocol Bucket: Sendable {
    func get(_ key: String) async throws -> (bytes: [UInt8], tag: String)?

    /// Without a tag the object is made; `nil` where another one stands there.
    func put(_ key: String, _ bytes: [UInt8], ifMatch tag: String?) async throws -> String?
}

private final class BucketInMemory: Bucket {
    private let objects = Guarded<[String: [UInt8]]>([:])

    deinit { objects.destroy() }

    private static func tag(_ bytes: [UInt8]) -> String { "\(bytes.reduce(0) { $0 &* 31 &+ Int($1) })" }

    func get(_ key: String) async throws -> (bytes: [UInt8], tag: String)? {
        objects.withLock { $0[key] }.map { ($0, Self.tag($0)) }
    }

    func put(_ key: String, _ bytes: [UInt8], ifMatch tag: String?) async throws -> String? {
        objects.withLock { objects in
            guard objects[key].map(Self.tag) == tag else { return nil }
            objects[key] = bytes
            return Self.tag(bytes)
        }
    }
}

@Suite struct SamplesOfConformance {
    private let firstStore: any FleetStore
    private let secondStore: any FleetStore
    private let storeWithoutServer: any FleetStore = ObjectFleetStore(bucket: BucketWithoutServer())

    init() {
        let bucket = BucketInMemory()
        firstStore = ObjectFleetStore(bucket: bucket)
        secondStore = ObjectFleetStore(bucket: bucket)
    }

    @Test func `the store keeps its promises`() async {
        let conformance = FleetStoreConformance(
            firstStore,
            others: [secondStore],
            unreachable: storeWithoutServer
        )
        #expect(await conformance.findings().isEmpty)
    }
}

private struct BucketWithoutServer: Bucket {
    func get(_ key: String) async throws -> (bytes: [UInt8], tag: String)? { throw TestStore.Failure() }

    func put(_ key: String, _ bytes: [UInt8], ifMatch tag: String?) async throws -> String? {
        throw TestStore.Failure()
    }
}

@Suite struct SamplesOfStores {
    private let bucket: any Bucket = BucketInMemory()
    private let bucketWithoutServer: any Bucket = BucketWithoutServer()

    @Test func `the store keeps its promises`() async {
        let conformance = FleetStoreConformance(
            ObjectFleetStore(bucket: bucket),
            others: [ObjectFleetStore(bucket: bucket)],
            unreachable: ObjectFleetStore(bucket: bucketWithoutServer)
        )
        #expect(await conformance.findings().map(\.description) == [])
    }
}
