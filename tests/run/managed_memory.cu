// Managed memory: cudaMallocManaged, __managed__ variables, pointer structures built by one side and changed by the other.
//@ exercises: cudaMallocManaged, __managed__, cudaMemAdvise, cudaMemPrefetchAsync, cudaPointerGetAttributes, host access after synchronisation
#include "support.h"

#include <new>

__managed__ int shared_counter = 5;
__managed__ float table[4] = {1, 2, 3, 4};
__managed__ int* shared_pointer;

struct Cell {
  int value;
  Cell* next;
};

__global__ void bump() {
  atomicAdd(&shared_counter, static_cast<int>(threadIdx.x));
  if (blockIdx.x == 0 && threadIdx.x < 4) {
    table[threadIdx.x] *= 2.0f;
  }
}

__global__ void double_list(Cell* list) {
  for (Cell* cell = list; cell; cell = cell->next) {
    cell->value *= 2;
  }
}

__global__ void reverse_list(Cell* list, Cell** head) {
  Cell* reversed = nullptr;
  while (list) {
    Cell* next = list->next;
    list->next = reversed;
    reversed = list;
    list = next;
  }
  *head = reversed;
}

__global__ void through_pointer() { shared_pointer[threadIdx.x] = static_cast<int>(threadIdx.x * threadIdx.x); }

int main() {
  shared_counter += 10;
  bump<<<2, 32>>>();
  SYNC_OK();
  std::printf("counter %d table %g %g %g %g\n", shared_counter, table[0], table[1], table[2], table[3]);

  Cell* head = nullptr;
  std::vector<Cell*> cells;
  for (int i = 0; i < 10; ++i) {
    Cell* cell;
    CUDA_OK(cudaMallocManaged(&cell, sizeof(Cell)));
    head = new (cell) Cell{i, head};
    cells.push_back(cell);
  }
  double_list<<<1, 1>>>(head);
  SYNC_OK();
  for (Cell* cell = head; cell; cell = cell->next) {
    std::printf("%d ", cell->value);
  }
  std::printf("\n");
  Cell** new_head;
  CUDA_OK(cudaMallocManaged(&new_head, sizeof(Cell*)));
  reverse_list<<<1, 1>>>(head, new_head);
  SYNC_OK();
  for (Cell* cell = *new_head; cell; cell = cell->next) {
    std::printf("%d ", cell->value);
  }
  std::printf("\n");

  int* squares;
  CUDA_OK(cudaMallocManaged(&squares, 64 * sizeof(int), cudaMemAttachGlobal));
  cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  CUDA_OK(cudaMemAdvise(squares, 64 * sizeof(int), cudaMemAdviseSetReadMostly, device));
  CUDA_OK(cudaMemPrefetchAsync(squares, 64 * sizeof(int), device, 0));
  shared_pointer = squares;
  through_pointer<<<1, 64>>>();
  SYNC_OK();
  std::printf("squares %d %d\n", squares[9], squares[63]);

  cudaPointerAttributes attributes;
  CUDA_OK(cudaPointerGetAttributes(&attributes, squares));
  std::printf("managed %d, same pointers %d\n", attributes.type == cudaMemoryTypeManaged,
              attributes.devicePointer == attributes.hostPointer && attributes.hostPointer == squares);

  for (Cell* cell : cells) {
    CUDA_OK(cudaFree(cell));
  }
  CUDA_OK(cudaFree(new_head));
  CUDA_OK(cudaFree(squares));
}
