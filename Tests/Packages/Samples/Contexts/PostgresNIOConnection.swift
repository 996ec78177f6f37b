import AppMigrationsSQL

// The package of this client isn't fetched here. Where it is, the sample is a file of its own.

#if canImport(PostgresNIO)
import Logging
import NIOCore
import PostgresNIO

// Sample 3 of SeveralHosts.md

// Sample 4 of SeveralHosts.md
#endif
