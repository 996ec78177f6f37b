// The declarations of Vapor 4.122 that the guide's service calls. Vapor itself isn't fetched here.

public enum HTTPStatus: Sendable { case ok, serviceUnavailable }

public struct Request: Sendable {}

public struct Environment: Sendable {
    public static var production: Environment { Environment() }
}

/// A future of NIO.
public struct EventLoopFuture<Value: Sendable>: Sendable {
    public func get() async throws {}
}

public final class Application: Sendable {
    public struct Running: Sendable {
        public var onStop: EventLoopFuture<Void> { EventLoopFuture() }

        public func stop() {}
    }

    public var running: Running? { Running() }

    public static func make(_ environment: Environment = .production) async throws -> Application {
        Application()
    }

    public func get(_ path: String..., use closure: @Sendable @escaping (Request) async throws -> HTTPStatus)
    {}

    public func startup() async throws {}

    public func asyncShutdown() async throws {}
}
