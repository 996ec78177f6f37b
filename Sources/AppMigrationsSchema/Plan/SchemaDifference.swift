internal import AppMigrationsSQLite

/// A difference from the target: an object of the target that is missing, one that the target doesn't have,
/// or one that isn't the same.
enum SchemaDifference {
    case missing(SchemaObject)
    case unexpected(SchemaObject)
    case different(SchemaObject, wanted: SchemaObject)

    /// The kind and the name of the object, such as `table notes`.
    var name: String {
        switch self {
        case .missing(let object), .unexpected(let object), .different(let object, wanted: _):
            "\(object.kind) \(object.name)"
        }
    }
}
