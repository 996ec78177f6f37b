/// An error of another module of this package that knows whether a full disk or missing permissions caused
/// it.
package protocol FileUsingError: Error {
    var isDueToFullDisk: Bool { get }
    var isDueToMissingPermission: Bool { get }
}
