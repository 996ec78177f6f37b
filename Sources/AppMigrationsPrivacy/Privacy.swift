// This target carries the privacy manifest that Apple asks for, since the lock and `synchronize` call
// `fstat`, `lstat` and `statvfs`. It is a target of its own because a resource brings an accessor that
// imports Foundation, which the core doesn't do on Linux: there nothing depends on it.
