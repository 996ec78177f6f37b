import Foundation

/// JSON as the app's own files have it: readable, and the same bytes for the same content.
enum NotesJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value) + Data("\n".utf8)
    }

    static func decode<Value: Decodable>(_ data: Data, path: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch {
            throw NotesError("\(path) cannot be read: \(error)")
        }
    }
}
