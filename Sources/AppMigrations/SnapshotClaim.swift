/// Says that the closure a snapshot was taken for is running: a `flock` on the snapshot's folder, from before the intent
/// that lists it is saved until the closure has ended.
///
/// The state's lock doesn't say it, since a process that puts files back holds that one too. A start that meets a list
/// whose snapshot nobody claims must wait: what the app wrote to those files now would be put back to what it was.
struct SnapshotClaim {
    private let descriptor: Int32

    /// Claims a snapshot that this process has made.
    init(_ location: StateLocation) throws(SystemCallError) {
        descriptor = try Platform.openDirectory(location.snapshot)
        do throws(SystemCallError) {
            // Only somebody who looks at this moment holds it. A start that waited for this closure, since it isn't claimed,
            // might wait on the thread that the closure is to go on on.
            var attempts = 0
            while try !Platform.tryLock(descriptor) {
                attempts += 1
                if attempts > 200 { throw Platform.wouldBlock }
                Platform.pause(.milliseconds(1))
            }
        } catch {
            Platform.closeAfterReading(descriptor)
            throw error
        }
    }

    func end() { Platform.unlock(descriptor) }

    /// Whether a process claims the snapshot.
    ///
    /// Those who look share the lock, so that none takes another for the one that runs.
    static func stands(_ location: StateLocation) throws(SystemCallError) -> Bool {
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try Platform.openDirectory(location.snapshot)
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return false
            }
            throw error
        }
        do throws(SystemCallError) {
            let isFree = try Platform.tryLock(descriptor, sharing: true)
            if isFree { Platform.unlock(descriptor) } else { Platform.closeAfterReading(descriptor) }
            return !isFree
        } catch {
            Platform.closeAfterReading(descriptor)
            throw error
        }
    }
}
