import AppMigrationsCommandLine
import Foundation
import Testing

/// Compiled only: the tool's whole file runs, in a process of its own.
func endTool(_ gate: MigrationGate) async {
    // Sample 1 of MigrationGate+Terminal.swift
}

/// Compiled only, too.
func endToolAfterError(_ gate: MigrationGate) async {
    // Sample 1 of MigrationGate+ExitCode.swift
}
