/// A version as it was declared, with the oldest app that can read the data after it.
package struct DeclaredVersion {
    package let version: AppVersion
    /// Zero where every app may go on reading.
    package let minimumAppVersion: AppVersion
    /// Why the declaration is refused, whatever the state says.
    package let refusal: MigrationError?

    /// - Throws: ``MigrationError`` with the code `invalidVersion`.
    package init(
        _ text: String,
        minimumAppVersion floorText: String?,
        _ location: StateLocation
    ) throws(MigrationError) {
        switch AppVersion.read(text) {
        case .version(let read): version = read
        case .problem(let problem): throw .invalidVersion(text, problem, manager: location.name)
        }
        guard let floorText else {
            (minimumAppVersion, refusal) = (.zero, nil)
            return
        }
        switch AppVersion.read(floorText) {
        case .version(let read): minimumAppVersion = read
        case .problem(let problem): throw .invalidFloor(floorText, problem, of: version, location)
        }
        refusal = minimumAppVersion > version ? .floorAbove(minimumAppVersion, of: version, location) : nil
    }
}
