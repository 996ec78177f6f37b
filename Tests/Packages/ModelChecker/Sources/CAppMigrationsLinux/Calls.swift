// The module of this name declares calls of Linux. Here they are the simulated ones.

@_exported import SimulatedSystem

public func app_migrations_open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { open(path, flags) }

/// The number of ext4.
public func app_migrations_file_system(_ file: Int32) -> Int64 { 0xEF53 }
