// The module of this name declares calls of Linux. Here they are the simulated ones.

@_exported import SimulatedSystem

public func app_migrations_open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { open(path, flags) }
