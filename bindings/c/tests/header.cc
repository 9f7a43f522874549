// The tests of header.c in C++17.
#include "header.c"
