// The four kernels on the first OpenCL device that is found: opencl KERNELS.cl ROUNDS
#define CL_TARGET_OPENCL_VERSION 120
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <CL/cl.h>
#include <string.h>

static void must(cl_int error, const char* what) {
  if (error != CL_SUCCESS) {
    fprintf(stderr, "%s: OpenCL error %d\n", what, error);
    exit(1);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  static char source[1 << 16];
  FILE* file = fopen(argv[1], "r");
  if (file == NULL) return 2;
  source[fread(source, 1, sizeof source - 1, file)] = 0;
  cl_platform_id platform;
  cl_device_id device;
  cl_int error = 0;
  must(clGetPlatformIDs(1, &platform, NULL), "platforms");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "devices");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  must(error, "context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  must(error, "queue");
  const char* text = source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  must(error, "program");
  must(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  const size_t most = (size_t)vector_size * sizeof(float);
  float* in = aligned_alloc(4096, most);
  float* out = aligned_alloc(4096, most);
  fill(in, vector_size);
  const cl_mem_flags flags = CL_MEM_USE_HOST_PTR;
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_ONLY | flags, most, in, &error);
  must(error, "buffer");
  cl_mem b = clCreateBuffer(context, CL_MEM_WRITE_ONLY | flags, most, out, &error);
  must(error, "buffer");
  const struct {
    const char* name;
    int inputs;
    cl_int n;
    cl_uint dimensions;
    size_t global[2], local[2];
  } cases[] = {
      {"vecadd", 2, vector_size, 1, {vector_size, 1}, {256, 1}},
      {"reduce", 1, vector_size, 1, {(size_t)reduced * 256, 1}, {256, 1}},
      {"matmul", 2, matrix, 2, {matrix, matrix}, {16, 16}},
      {"nbody", 1, bodies, 1, {bodies, 1}, {256, 1}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    cl_kernel kernel = clCreateKernel(program, cases[k].name, &error);
    must(error, cases[k].name);
    cl_uint argument = 0;
    for (int input = 0; input < cases[k].inputs; ++input) {
      must(clSetKernelArg(kernel, argument++, sizeof a, &a), "argument");
    }
    must(clSetKernelArg(kernel, argument++, sizeof b, &b), "argument");
    must(clSetKernelArg(kernel, argument++, sizeof cases[k].n, &cases[k].n), "argument");
    double best = 1e9;
    for (int round = 0; round < atoi(argv[2]); ++round) {
      const double before = processor_ms();
      must(
          clEnqueueNDRangeKernel(queue, kernel, cases[k].dimensions, NULL, cases[k].global, cases[k].local, 0, NULL, NULL),
          "launch"
      );
      must(clFinish(queue), "finish");
      const double ms = processor_ms() - before;
      best = ms < best ? ms : best;
    }
    must(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, most, out, 0, NULL, NULL), "read");
    check(cases[k].name, in, out);
    printf("%s %.3f\n", cases[k].name, best);
  }
  return 0;
}
