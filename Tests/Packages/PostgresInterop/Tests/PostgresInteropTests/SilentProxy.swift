import Foundation
import Glibc
import Synchronization
import Testing

/// A proxy whose connections fall silent.
///
/// When a client sends a certain text, the proxy goes on to take what both ends send, and passes nothing on. The
/// server hears of it once the client closes the connection.
final class SilentProxy: Sendable {
    private let text: [UInt8]
    private let target: UInt16
    private let listener: Int32
    let port: UInt16
    private let pairs = Mutex([Pair]())
    private let isPassing = Atomic(false)
    private let silences = Atomic(0)

    /// How many connections have fallen silent.
    var count: Int { silences.load(ordering: .sequentiallyConsistent) }

    init(before info: String, silentAt text: String) throws {
        self.text = Array(text.utf8)
        target = try #require(Self.port(of: info))
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, size) == 0 && listen(listener, 64) == 0
                && getsockname(listener, address, &size) == 0
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    deinit { Glibc.close(listener) }

    /// Lets every text of later connections pass.
    func pass() { isPassing.store(true, ordering: .sequentiallyConsistent) }

    /// Ends every connection.
    func end() { for pair in pairs.withLock(\.self) { pair.end() } }

    /// The way to a database through the proxy.
    func info(_ info: String) -> String { info.replacing("port=\(target)", with: "port=\(port)") }

    private static func port(of info: String) -> UInt16? {
        info.split(separator: " ").first { $0.hasPrefix("port=") }.flatMap { UInt16($0.dropFirst(5)) }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func accept() {
        while case let client = Glibc.accept(listener, nil, nil), client >= 0 {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(target)
            let result = withUnsafeBytes(of: &address) {
                connect(
                    server,
                    $0.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    socklen_t($0.count)
                )
            }
            guard result == 0 else {
                Glibc.close(client)
                continue
            }
            let pair = Pair(client: client, server: server)
            pairs.withLock { $0.append(pair) }
            Thread.detachNewThread { [self] in pair.copy(fromClient: true) { isSilence(of: $0) } }
            Thread.detachNewThread { pair.copy(fromClient: false) { _ in false } }
        }
    }

    private func isSilence(of bytes: ArraySlice<UInt8>) -> Bool {
        guard !isPassing.load(ordering: .sequentiallyConsistent), bytes.contains(text) else { return false }
        silences.add(1, ordering: .sequentiallyConsistent)
        return true
    }
}

/// The two ends of one connection.
private final class Pair: Sendable {
    private let client: Int32
    private let server: Int32
    private let isSilent = Atomic(false)

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
    }

    deinit {
        close(client)
        close(server)
    }

    /// Passes on what one end sends, until it ends.
    func copy(fromClient: Bool, _ isSilence: (ArraySlice<UInt8>) -> Bool) {
        let (source, target) = fromClient ? (client, server) : (server, client)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
            if isSilence(buffer[..<count]) { isSilent.store(true, ordering: .sequentiallyConsistent) }
            if isSilent.load(ordering: .sequentiallyConsistent) { continue }
            _ = send(target, buffer, count, Int32(MSG_NOSIGNAL))
        }
        // Of a server that ends a silent connection, its client hears nothing.
        if fromClient || !isSilent.load(ordering: .sequentiallyConsistent) {
            end()
        }
    }

    func end() {
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }
}
