typedef unsigned long long uint64_t;
__global__ void k(uint64_t* p) { *p = 1; }
