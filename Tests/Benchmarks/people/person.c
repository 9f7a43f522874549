#include "person.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_number(uint64_t *seed) {
    uint64_t mixed = (*seed += 0x9E3779B97F4A7C15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

static const char *const first_names[] = {"Ada", "Alan", "Barbara", "Claude", "Donald", "Edsger",
    "Frances", "Grace", "Hedy", "Ivan", "Joan", "Ken", "Lynn", "Margaret", "Niklaus", "Radia"};
static const char *const last_names[] = {"Allen", "Conway", "Dijkstra", "Hamilton", "Hopper",
    "Knuth", "Lamarr", "Liskov", "Lovelace", "Perlman", "Ritchie", "Shannon", "Thompson", "Turing",
    "Wirth", "Zuse"};
static const char *const city_beginnings[] = {
    "Al", "Bern", "Carl", "Dor", "Elm", "Frei", "Gold", "Hoh", "Il", "Jen"};
static const char *const city_endings[] = {
    "bach", "burg", "dorf", "feld", "furt", "hagen", "heim", "stadt", "tal", "wald"};
static const char *const tags[] = {"admin", "beta", "blue", "cook", "early", "guest", "night",
    "north", "paid", "pilot", "remote", "south", "staff", "sport", "vip", "writer"};

person person_make(int64_t id) {
    uint64_t seed = (uint64_t)id * 977 + 12345;
    uint64_t names = random_number(&seed), rest = random_number(&seed);
    person made = {.id = id, .boss = NOBODY};
    made.age = (int64_t)(names % 100);
    made.score = (double)(uint32_t)rest / 4294967296.0;
    made.active = (rest >> 32) % 2;
    made.created = 1500000000 + (int64_t)((rest >> 33) % 200000000);
    snprintf(made.name, sizeof made.name, "%s %s %06lld", first_names[(names >> 8) % 16],
        last_names[(names >> 16) % 16], (long long)id);
    person_email(made.email, id);
    snprintf(made.city, sizeof made.city, "%s%s", city_beginnings[(names >> 24) % 10],
        city_endings[(names >> 32) % 10]);
    for (int index = 0; index < TAG_COUNT; index++)
        snprintf(made.tags[index], sizeof made.tags[index], "%s",
            tags[(names >> (40 + 4 * index)) % 16]);
    return made;
}

void person_email(char email[32], int64_t id) {
    snprintf(email, 32, "user%06lld@example.org", (long long)id);
}

void person_new_email(char email[32], int64_t id) {
    snprintf(email, 32, "new%06lld@example.org", (long long)((uint64_t)id * 7919 % 10000000));
}

person *people_make(size_t count) {
    uint64_t seed = 42;
    int64_t *order = random_ids(count, count, &seed);
    person *people = obtain(count * sizeof *people);
    for (size_t index = 0; index < count; index++) {
        people[index] = person_make(order[index]);
        if (index > 0) people[index].boss = order[random_number(&seed) % index];
    }
    free(order);
    return people;
}

int64_t *random_ids(size_t count, size_t limit, uint64_t *seed) {
    int64_t *ids = obtain(limit * sizeof *ids);
    for (size_t index = 0; index < limit; index++) ids[index] = (int64_t)index;
    for (size_t index = 0; index < count; index++) {
        size_t other = index + random_number(seed) % (limit - index);
        int64_t id = ids[index];
        ids[index] = ids[other];
        ids[other] = id;
    }
    return ids;
}
