#ifndef TOFT_H
#define TOFT_H
#include <stdint.h>
#endif
