// Host code of its own: only instrumentation shows that this loop makes no API call.
void wait_on_host(volatile int* flag) {
  while (*flag == 0) {
  }
}
