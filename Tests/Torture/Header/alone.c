/* What the library has where <sqlite3.h> is missing must be enough for the shim. */
#define APP_MIGRATIONS_HIDE_SQLITE_HEADER
#include "../../../Sources/CAppMigrationsSQLite/shim.h"

#ifdef SQLITE_VERSION_NUMBER
#error "The real header was included."
#endif

int main(void) { return sqlite3_libversion_number() < 3000000; }
