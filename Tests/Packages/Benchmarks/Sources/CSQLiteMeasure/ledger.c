#include "sqlite_measure.h"
#include <sqlite3.h>

int64_t measure_c_ledger(const char *path) {
    sqlite3 *database;
    sqlite3_stmt *statement = 0;
    int64_t count = -1, sum = 0;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, 0) == SQLITE_OK
        && sqlite3_prepare_v2(database, "SELECT version FROM schema_migrations ORDER BY version", -1, &statement, 0)
            == SQLITE_OK) {
        for (count = 0; sqlite3_step(statement) == SQLITE_ROW; count++) sum += sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close_v2(database);
    return sum < 0 ? -1 : count;
}
