// Counts the words of a text with one heddle::concurrent_map that host threads and device threads
// fill: a part of the text each, or one side alone.
//
//     nvcc -std=c++17 -arch=sm_90 -cudart shared -I ../../include word_count.cu -o word_count
//     heddle run ./word_count both < text          (host, device or both; without a GPU; or run it
//     on one)
//
// A word is its first eight letters, in a number: such keys and counts are pairs of 16 bytes, which
// one 128-bit exchange changes (sm_90), or a state per slot where there is none.
#include <heddle/concurrent_map.cuh>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

using Map =
    heddle::concurrent_map<unsigned long long, unsigned long long, cuda::thread_scope_system>;

__host__ __device__ bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Counts the words that begin in [from, to). The same code on both sides: M is Map on the host,
/// its ref on the device.
#pragma nv_exec_check_disable
template <class M>
__host__ __device__ void count_words(const M& map, const char* text, int from, int to, int size) {
  for (int i = from; i < to; ++i) {
    if (!is_letter(text[i]) || (i > 0 && is_letter(text[i - 1]))) {
      continue;
    }
    unsigned long long word = 0;
    for (int letter = 0; letter < 8 && i + letter < size && is_letter(text[i + letter]); ++letter) {
      word = word << 8 | static_cast<unsigned char>(text[i + letter] | 0x20);
    }
    map.insert_or_apply(word, [](unsigned long long& count) { ++count; });
  }
}

__global__ void count_on_device(Map::ref_type map, const char* text, int from, int to, int size) {
  const int threads = static_cast<int>(gridDim.x * blockDim.x),
            me = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const long long length = to - from;
  count_words(
      map,
      text,
      from + static_cast<int>(length * me / threads),
      from + static_cast<int>(length * (me + 1) / threads),
      size
  );
}

int main(int argc, char** argv) {
  const std::string where = argc > 1 ? argv[1] : "both";
  const std::string input{
      std::istreambuf_iterator<char>(std::cin),
      std::istreambuf_iterator<char>()
  };
  const int size = static_cast<int>(input.size());
  const int split = where == "host"     ? size
                    : where == "device" ? 0
                                        : size / 2; // the host's part comes first
  char* text = nullptr;
  if (cudaMallocManaged(&text, size + 1) != cudaSuccess) {
    return 1;
  }
  std::memcpy(text, input.data(), size);

  Map map(size / 2 + 1);
  if (split < size) {
    count_on_device<<<4, 32>>>(map.ref(), text, split, size, size);
  }
  constexpr int host_threads = 2;
  std::vector<std::thread> team;
  for (int t = 0; t < host_threads; ++t) {
    team.emplace_back([&, t] {
      count_words(
          map,
          input.data(),
          split / host_threads * t,
          t + 1 == host_threads ? split : split / host_threads * (t + 1),
          size
      );
    });
  }
  for (std::thread& thread : team) {
    thread.join();
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 1;
  }

  std::vector<std::pair<unsigned long long, std::string>> counts;
  map.for_each([&](unsigned long long word, unsigned long long count) {
    std::string letters;
    for (int shift = 56; shift >= 0; shift -= 8) {
      if (const char c = static_cast<char>(word >> shift)) {
        letters += c;
      }
    }
    counts.emplace_back(count, letters);
  });
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (std::size_t i = 0; i < counts.size() && i < 10; ++i) {
    std::printf("%6llu %s\n", counts[i].first, counts[i].second.c_str());
  }
  (void)cudaFree(text);
  return 0;
}
