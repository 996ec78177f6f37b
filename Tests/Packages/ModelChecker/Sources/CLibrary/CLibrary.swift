// The real C library, for the threads of rules on an awaited connection: the simulated system has none.
@_exported public import Glibc
