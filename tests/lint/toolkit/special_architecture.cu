// lint-options: --arch=sm_120a -- -std=c++17
// What nvcc says to the device's code of an architecture with a letter. Nothing here is wrong.
#ifdef __CUDA_ARCH__
#if __CUDA_ARCH_SPECIFIC__ != 1200 || __CUDA_ARCH_FAMILY_SPECIFIC__ != 1200 || !defined(__CUDA_ARCH_FEAT_SM120_ALL)
#error "nvcc defines them"
#endif
#endif
__global__ void special(int* p) { p[0] = 1; }
