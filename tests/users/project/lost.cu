// Its header lies where only the build knows.
#include "elsewhere/where.h"

__global__ void nothing() {}
