#ifndef APP_MIGRATIONS_SQLITE_SHIM_H
#define APP_MIGRATIONS_SQLITE_SHIM_H

/* A machine that runs `swift build` has libsqlite3.so.0, since the package manager itself is linked with it,
   but often not the -dev package with the header. */
#if __has_include(<sqlite3.h>) && !defined(APP_MIGRATIONS_HIDE_SQLITE_HEADER)
#include <sqlite3.h>
#else
#include "declarations.h"
#endif

/* sqlite3_error_offset came with SQLite 3.38; weak, it is a null pointer where the library is older. */
#if defined(__APPLE__)
extern int sqlite3_error_offset(sqlite3 *) __attribute__((weak_import));
#else
extern int sqlite3_error_offset(sqlite3 *) __attribute__((weak));
#endif

static inline int app_migrations_error_offset(sqlite3 *database) {
    return sqlite3_error_offset ? sqlite3_error_offset(database) : -1;
}

/* Swift calls no variadic functions. */
static inline int app_migrations_db_config(sqlite3 *database, int option, int value, int *result) {
    return sqlite3_db_config(database, option, value, result);
}

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import. A null pointer would bind
   NULL instead of an empty text. */
static inline int app_migrations_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, text ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int app_migrations_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
