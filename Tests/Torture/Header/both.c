/* A declaration or a constant that differs between the two headers is an error of the compiler's. */
#include <sqlite3.h>
#include <stddef.h>

#include "../../../Sources/CAppMigrationsSQLite/declarations.h"
#include "../../../Sources/CAppMigrationsSQLite/shim.h"

_Static_assert(offsetof(struct app_migrations_file, methods) == offsetof(sqlite3_file, pMethods), "");
_Static_assert(offsetof(struct app_migrations_methods, sync) == offsetof(sqlite3_io_methods, xSync), "");
_Static_assert(offsetof(struct app_migrations_methods, file_size) == offsetof(sqlite3_io_methods, xFileSize), "");

int main(void) { return 0; }
