import AppMigrationsFleet
import Synchronization
import Testing

@Suite struct StoreOfYourOwn {
    struct ObjectFleetStore: FleetStore {
        let bucket: any Bucket

        func document(
            named name: String
        ) async throws -> FleetDocument? {
            guard let object = try await bucket.get(key(name)) else {
                return nil
            }
            return FleetDocument(
                bytes: Array(object.bytes.dropFirst(17)),
                revision: FleetRevision(object.tag)
            )
        }

        func replaceDocument(
            named name: String,
            ifRevision revision: FleetRevision?,
            with document: [UInt8]
        ) async throws -> FleetRevision? {
            let random = UInt64.random(in: 0 ... .max)
            let number = String(random, radix: 16)
            let zeros = String(repeating: "0", count: 16 - number.count)
            let bytes = Array("\(zeros)\(number)\n".utf8) + document
            // For 412 Precondition Failed, `put` returns nil.
            // All other errors throw.
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

    @Test func `the store keeps its promises`() async {
        let conformance = FleetStoreConformance(
            ObjectFleetStore(bucket: bucket),
            others: [ObjectFleetStore(bucket: bucket)],
            unreachable: ObjectFleetStore(bucket: bucketWithoutServer)
        )
        #expect(await conformance.findings().map(\.description) == [])
    }

    let bucket: any Bucket = BucketInMemory()
    let bucketWithoutServer: any Bucket = BucketWithoutServer()

    /// The calls of a client of an object store; an object's tag is made of its bytes.
    protocol Bucket: Sendable {
        func get(_ key: String) async throws -> (bytes: [UInt8], tag: String)?

        /// Without a tag the object is made; `nil` where another one stands there.
        func put(_ key: String, _ bytes: [UInt8], ifMatch tag: String?) async throws -> String?
    }

    final class BucketInMemory: Bucket {
        private let objects = Mutex([String: [UInt8]]())

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

    struct BucketWithoutServer: Bucket {
        struct Unreachable: Error {}

        func get(_ key: String) async throws -> (bytes: [UInt8], tag: String)? { throw Unreachable() }

        func put(_ key: String, _ bytes: [UInt8], ifMatch tag: String?) async throws -> String? {
            throw Unreachable()
        }
    }
}

/// The doc comment's sample, with the stores that the article writes.
@Suite struct FleetStoreConformanceSample {
    // Sample 1 of FleetStoreConformance.swift

    private let firstStore: StoreOfYourOwn.ObjectFleetStore
    private let secondStore: StoreOfYourOwn.ObjectFleetStore
    private let storeWithoutServer: StoreOfYourOwn.ObjectFleetStore

    init() {
        let samples = StoreOfYourOwn()
        firstStore = .init(bucket: samples.bucket)
        secondStore = .init(bucket: samples.bucket)
        storeWithoutServer = .init(bucket: samples.bucketWithoutServer)
    }
}
