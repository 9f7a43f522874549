// The same in C++17.
#include "header.c"
