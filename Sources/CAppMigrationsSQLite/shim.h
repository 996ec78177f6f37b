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

/* How `sqlite3_file` and its `sqlite3_io_methods` begin, under names of our own. SQLite adds methods at the end only.
   Tests/Torture/Header/both.c compares them. */
struct app_migrations_methods {
    int version;
    int (*close_read_write_truncate[4])(void);
    int (*sync)(void *file, int flags);
    int (*file_size)(void *file, sqlite3_int64 *size);
};
struct app_migrations_file {
    const struct app_migrations_methods *methods;
};

/* Syncs the file of an open database to disk. If it were opened and closed for that with calls of our own, this process would
   lose the locks that its other connections have on it (fcntl). */
static inline int app_migrations_sync(sqlite3 *database) {
    struct app_migrations_file *file = 0;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK || !file || !file->methods) return result;
    return file->methods->sync(file, SQLITE_SYNC_FULL);
}

/* The size of the file of an open database, for the same reason. It is 0 if the database has no file. */
static inline int app_migrations_file_size(sqlite3 *database, sqlite3_int64 *size) {
    struct app_migrations_file *file = 0;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    *size = 0;
    if (result != SQLITE_OK || !file || !file->methods) return result;
    return file->methods->file_size(file, size);
}

#endif
