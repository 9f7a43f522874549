/* first-read-ENGINE FILE ID: prints the age (and the length of the name) of a person as soon as
   it can, then how many people there are. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count != 3) return 2;
    database *database = ENGINE.open(arguments[1]);
    int64_t id = atoll(arguments[2]);
    printf("%lld\n", (long long)ENGINE.look_up(database, &id, 1));
    fflush(stdout);
    printf("%lld\n", (long long)ENGINE.count(database));
    ENGINE.close(database);
    return 0;
}
