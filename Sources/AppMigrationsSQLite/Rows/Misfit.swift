/// A reason why a value doesn't fit a type, if the value and the type don't make it clear.
enum Misfit: String, Error, CustomStringConvertible {
    case rounded = "it would be rounded; read a Double"
    case several = "it is made of several values, and a column has one"

    var description: String { rawValue }
}
