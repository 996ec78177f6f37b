/// An error of another module of this package that knows whether a full disk caused it.
package protocol DiskUsingError: Error {
    var isDueToFullDisk: Bool { get }
}
