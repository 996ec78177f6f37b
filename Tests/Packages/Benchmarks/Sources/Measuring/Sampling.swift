public import CMeasure

public struct ChildFailed: Error {
    let arguments: [String]
    let status: Int32
}

private func withArguments<Value>(_ arguments: [String], _ body: ([UnsafePointer<CChar>?]) -> Value) -> Value
{
    let copies = arguments.map { text in
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    return body(copies.map { UnsafePointer($0) } + [nil])
}

/// Runs a child to its end.
public func spawn(_ arguments: [String]) throws -> measure_run {
    let run = withArguments(arguments) { measure_spawn($0) }
    if run.status != 0 { throw ChildFailed(arguments: arguments, status: run.status) }
    return run
}

/// Runs a child under ptrace.
public func trace(_ arguments: [String]) throws -> measure_trace {
    let trace = withArguments(arguments) { measure_traced($0) }
    if trace.status != 0 { throw ChildFailed(arguments: arguments, status: trace.status) }
    return trace
}

public func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The median of `left / right`, measured in pairs, the order turned from pair to pair, after two pairs that don't count.
public func pairedRatio(
    _ pairs: Int,
    _ left: () throws -> Double,
    _ right: () throws -> Double
) rethrows -> Double {
    var ratios: [Double] = []
    for pair in -2..<pairs {
        let (first, second): (Double, Double)
        if pair % 2 == 0 {
            first = try left()
            second = try right()
        } else {
            second = try right()
            first = try left()
        }
        if pair >= 0 { ratios.append(first / max(second, 1)) }
    }
    return median(ratios)
}

/// The child's own measurement, in nanoseconds.
public func inside(_ arguments: [String]) throws -> Double { Double(try spawn(arguments).output) }

/// The whole life of the child, in nanoseconds.
public func outside(_ arguments: [String]) throws -> Double { Double(try spawn(arguments).nanoseconds) }

/// The nanoseconds that `body` takes in this process.
public func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let began = measure_now()
    try body()
    return Double(measure_now() - began)
}
