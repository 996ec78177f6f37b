// The C library of the system, by one name.
#if canImport(Darwin)
@_exported public import Darwin
#elseif canImport(Glibc)
@_exported public import CAppMigrationsLinux
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import CAppMigrationsLinux
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
@_exported public import CAppMigrationsLinux
#else
#error("AppMigrations needs a POSIX C library: Darwin, Glibc, Musl or Android's.")
#endif
