@_exported public import AppMigrations

extension MigrationGate {
    /// Waits until the data is ready, the way a command-line tool waits for it.
    ///
    /// It does what `ready()` does, and:
    ///
    /// - If the standard error is a terminal, it shows a progress bar there while migrations run, and says if
    ///   another process is migrating. If the standard error is a file or a pipe, nothing is written to it.
    /// - `SIGINT` (Ctrl-C), `SIGTERM` and `SIGHUP` call `cancel()` until this method returns or throws. A
    ///   closure that saves checkpoints ends at its next one. Any other closure runs to its end. Another one
    ///   of these signals only repeats that the start is stopping. Without this method, these signals end the
    ///   process in the middle of a closure, which counts as a crash.
    /// - It doesn't wait for a locked device to be unlocked. It throws the error instead.
    ///
    /// A signal that the process ignored before, such as `SIGHUP` under `nohup`, stays ignored.
    ///
    /// ```swift
    /// do {
    ///     try await gate.readyInTerminal()
    /// } catch {
    ///     print(error)
    ///     MigrationGate.endProcess(after: error)
    /// }
    /// ```
    ///
    /// - Throws: The errors of `ready()`. `CancellationError` if one of these signals came, even if the start
    ///   succeeded after that. `RequiresUnlock`, or `MigrationError` with the code `stateUnreadable`, if the
    ///   device is locked.
    public func readyInTerminal() async throws {
        let signals = await TerminationSignals { [self] isFirst in
            TerminalProgress.showStop(isFirst: isFirst)
            cancel()
        }
        defer { signals.stop() }
        // The first use of `states` begins the start. If a signal came before that, `cancel()` had no effect.
        let states = states
        if signals.wereReceived { cancel() }
        try await showProgress(states)
        try await ready()
        // The user wants the tool to end, even if the start has succeeded.
        if signals.wereReceived { throw CancellationError() }
    }

    /// Shows the states in the terminal until the start has ended.
    ///
    /// If the device is locked, cancels the start and throws its error.
    private func showProgress(_ states: AsyncStream<State>) async throws {
        var progress = TerminalProgress()
        defer { progress.finish() }
        for await state in states {
            switch state {
            case .waitingForAnotherProcess: progress.show(message: "Another process is migrating the data.")
            case .migrating(let fraction, let note): progress.show(fraction: fraction, note: note)
            case .waitingForUnlock(let error):
                // The gate would try again until this process ends.
                cancel()
                throw error
            case .ready, .requiresAppVersion, .cancelled, .failed: return
            case .idle, .planning: continue
            }
        }
    }
}
