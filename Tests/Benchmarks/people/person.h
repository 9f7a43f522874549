/* The people that every engine is given: the same ones in the same order for the same number,
   whatever the machine. */
#ifndef PERSON_H
#define PERSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAG_COUNT = 3, NOBODY = -1 };

typedef struct person {
    int64_t id;      /* primary key */
    int64_t age;     /* 0...99 */
    int64_t created; /* seconds since 1970 */
    int64_t boss;    /* another person's id, or NOBODY */
    /* in [0, 1), a multiple of 2^-32: a million of them add up exactly, in any order */
    double score;
    bool active;
    char name[32];  /* "First Last 123456" */
    char email[32]; /* "user123456@example.org", unique */
    char city[16];  /* one of 100 */
    char tags[TAG_COUNT][12];
} person;

/* A number that depends on nothing but its seed; the seed moves on. */
uint64_t random_number(uint64_t *seed);

/* The person with an id, without a boss. */
person person_make(int64_t id);

/* The e-mail address of the person with an id. */
void person_email(char email[32], int64_t id);

/* Another address that the person with an id may get. */
void person_new_email(char email[32], int64_t id);

/* People with the ids 0..<count in shuffled order; the boss of each is one of those before. Free
   it. */
person *people_make(size_t count);

/* `count` different numbers of 0..<limit, in random order. Free them. */
int64_t *random_ids(size_t count, size_t limit, uint64_t *seed);

#endif
