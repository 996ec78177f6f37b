/// Why a value doesn't fit a type, for cases in which the value and the type alone don't show it.
enum Misfit: String, Error, CustomStringConvertible {
    case rounded = "it would be rounded; read a Double"
    case several = "a column holds a single value, and this type needs several"

    var description: String { rawValue }
}
