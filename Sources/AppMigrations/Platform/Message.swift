/// The text of an error, from an interpolated string.
///
/// It is used instead of `String`, because the compiler copies the code for an interpolated `String` to each
/// of the hundred places that have one. With this type, each part of a text is only one call.
package struct Message: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ text: String) { description = text }

    package init(stringLiteral text: StaticString) { description = text.description }

    @inline(never)
    package init(stringInterpolation: Interpolation) { description = stringInterpolation.text }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        @inline(never)
        package init(literalCapacity: Int, interpolationCount: Int) {}

        @inline(never)
        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        @inline(never)
        package mutating func appendInterpolation(_ part: String) { text += part }

        @inline(never)
        package mutating func appendInterpolation(_ part: Message) { text += part.description }

        @inline(never)
        package mutating func appendInterpolation(_ number: Int) { text += String(number) }

        @inline(never)
        package mutating func appendInterpolation(_ error: any Error) { text += String(describing: error) }
    }
}
