// Threads of different warps and blocks wait for each other, last one first.
//@ command: run
#include "../../../examples/relay.cu"
