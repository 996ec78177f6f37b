#ifndef APP_MIGRATIONS_SQLITE_DECLARATIONS_H
#define APP_MIGRATIONS_SQLITE_DECLARATIONS_H

/* The part of SQLite's interface that the library uses, for machines without <sqlite3.h>. SQLite keeps its C
   interface compatible for good ("C/C++ Interface For SQLite Version 3"), so these lines do not age.
   Tests/Torture/sql-header compiles them together with the real header, so that the two cannot disagree. */

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_backup sqlite3_backup;
typedef struct sqlite3_module sqlite3_module;
typedef long long int sqlite3_int64;
typedef unsigned long long int sqlite3_uint64;
typedef void (*sqlite3_destructor_type)(void *);

#define SQLITE_TRANSIENT ((sqlite3_destructor_type)-1)

#define SQLITE_OK 0
#define SQLITE_ERROR 1
#define SQLITE_PERM 3
#define SQLITE_ABORT 4
#define SQLITE_BUSY 5
#define SQLITE_LOCKED 6
#define SQLITE_NOMEM 7
#define SQLITE_READONLY 8
#define SQLITE_INTERRUPT 9
#define SQLITE_IOERR 10
#define SQLITE_CORRUPT 11
#define SQLITE_NOTFOUND 12
#define SQLITE_FULL 13
#define SQLITE_CANTOPEN 14
#define SQLITE_PROTOCOL 15
#define SQLITE_SCHEMA 17
#define SQLITE_TOOBIG 18
#define SQLITE_CONSTRAINT 19
#define SQLITE_MISMATCH 20
#define SQLITE_MISUSE 21
#define SQLITE_NOLFS 22
#define SQLITE_AUTH 23
#define SQLITE_RANGE 25
#define SQLITE_NOTADB 26
#define SQLITE_ROW 100
#define SQLITE_DONE 101

#define SQLITE_INTEGER 1
#define SQLITE_FLOAT 2
#define SQLITE_BLOB 4
#define SQLITE_NULL 5
#define SQLITE3_TEXT 3
#define SQLITE_UTF8 1

#define SQLITE_OPEN_READONLY 0x00000001
#define SQLITE_OPEN_READWRITE 0x00000002
#define SQLITE_OPEN_CREATE 0x00000004
#define SQLITE_OPEN_FULLMUTEX 0x00010000

#define SQLITE_DENY 1
#define SQLITE_CREATE_INDEX 1
#define SQLITE_CREATE_TABLE 2
#define SQLITE_ALTER_TABLE 26
#define SQLITE_DELETE 9
#define SQLITE_DROP_INDEX 10
#define SQLITE_DROP_TABLE 11
#define SQLITE_INSERT 18
#define SQLITE_PRAGMA 19
#define SQLITE_READ 20
#define SQLITE_TRANSACTION 22
#define SQLITE_UPDATE 23
#define SQLITE_ATTACH 24
#define SQLITE_DETACH 25
#define SQLITE_SAVEPOINT 32

#define SQLITE_DBCONFIG_ENABLE_FKEY 1002
#define SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE 1006
#define SQLITE_DBCONFIG_WRITABLE_SCHEMA 1011
#define SQLITE_DBCONFIG_LEGACY_ALTER_TABLE 1012
#define SQLITE_DBCONFIG_DQS_DML 1013
#define SQLITE_DBCONFIG_DQS_DDL 1014

#define SQLITE_FCNTL_FILE_POINTER 7
#define SQLITE_FCNTL_DATA_VERSION 35
#define SQLITE_SYNC_FULL 0x00003

const char *sqlite3_libversion(void);
int sqlite3_libversion_number(void);
int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
int sqlite3_close(sqlite3 *);
int sqlite3_close_v2(sqlite3 *);
int sqlite3_extended_result_codes(sqlite3 *, int);
int sqlite3_busy_timeout(sqlite3 *, int);
int sqlite3_busy_handler(sqlite3 *, int (*)(void *, int), void *);
int sqlite3_sleep(int);
int sqlite3_errcode(sqlite3 *);
int sqlite3_extended_errcode(sqlite3 *);
int sqlite3_system_errno(sqlite3 *);
const char *sqlite3_errmsg(sqlite3 *);
const char *sqlite3_errstr(int);
int sqlite3_error_offset(sqlite3 *);
int sqlite3_get_autocommit(sqlite3 *);
int sqlite3_db_config(sqlite3 *, int, ...);
int sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
int sqlite3_db_status(sqlite3 *, int, int *, int *, int);
int sqlite3_file_control(sqlite3 *, const char *, int, void *);
int sqlite3_create_module_v2(sqlite3 *, const char *, const sqlite3_module *, void *, void (*)(void *));
int sqlite3_db_readonly(sqlite3 *, const char *);
const char *sqlite3_db_filename(sqlite3 *, const char *);
int sqlite3_table_column_metadata(
    sqlite3 *, const char *, const char *, const char *, char const **, char const **, int *, int *, int *);
void sqlite3_interrupt(sqlite3 *);
void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
int sqlite3_keyword_check(const char *word, int length);
int sqlite3_complete(const char *);
int sqlite3_strnicmp(const char *, const char *, int);
void *sqlite3_commit_hook(sqlite3 *, int (*)(void *), void *);
void *sqlite3_rollback_hook(sqlite3 *, void (*)(void *), void *);
int sqlite3_set_authorizer(
    sqlite3 *, int (*)(void *, int, const char *, const char *, const char *, const char *), void *);
int sqlite3_changes(sqlite3 *);
int sqlite3_total_changes(sqlite3 *);
sqlite3_int64 sqlite3_last_insert_rowid(sqlite3 *);

int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int sqlite3_step(sqlite3_stmt *);
int sqlite3_reset(sqlite3_stmt *);
int sqlite3_clear_bindings(sqlite3_stmt *);
int sqlite3_finalize(sqlite3_stmt *);
int sqlite3_stmt_readonly(sqlite3_stmt *);
const char *sqlite3_sql(sqlite3_stmt *);

int sqlite3_bind_parameter_count(sqlite3_stmt *);
int sqlite3_bind_parameter_index(sqlite3_stmt *, const char *);
const char *sqlite3_bind_parameter_name(sqlite3_stmt *, int);
int sqlite3_bind_null(sqlite3_stmt *, int);
int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
int sqlite3_bind_double(sqlite3_stmt *, int, double);
int sqlite3_bind_text64(
    sqlite3_stmt *, int, const char *, sqlite3_uint64, void (*)(void *), unsigned char);
int sqlite3_bind_blob64(sqlite3_stmt *, int, const void *, sqlite3_uint64, void (*)(void *));
int sqlite3_bind_zeroblob(sqlite3_stmt *, int, int);

int sqlite3_column_count(sqlite3_stmt *);
const char *sqlite3_column_name(sqlite3_stmt *, int);
const char *sqlite3_column_decltype(sqlite3_stmt *, int);
int sqlite3_column_type(sqlite3_stmt *, int);
sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int);
double sqlite3_column_double(sqlite3_stmt *, int);
const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
const void *sqlite3_column_blob(sqlite3_stmt *, int);
int sqlite3_column_bytes(sqlite3_stmt *, int);

sqlite3_backup *sqlite3_backup_init(sqlite3 *, const char *, sqlite3 *, const char *);
int sqlite3_backup_step(sqlite3_backup *, int);
int sqlite3_backup_finish(sqlite3_backup *);
int sqlite3_backup_remaining(sqlite3_backup *);
int sqlite3_backup_pagecount(sqlite3_backup *);

#endif
