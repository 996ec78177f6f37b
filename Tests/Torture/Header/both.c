/* A declaration or a constant that differs between the two headers is an error of the compiler's. */
#include <sqlite3.h>

#include "../../../Sources/CAppMigrationsSQLite/declarations.h"
#include "../../../Sources/CAppMigrationsSQLite/shim.h"

int main(void) { return 0; }
