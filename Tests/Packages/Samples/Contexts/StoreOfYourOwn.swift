import AppMigrationsFleet
import Synchronization
import Testing

@Suite struct StoreOfYourOwn {
    // Sample 8 of SeveralHosts.md

    // Sample 12 of Testing.md

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
