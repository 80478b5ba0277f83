"""What orders.py expects of each order that is one step weaker."""
# By header, text of the line, and what the order becomes: a program that finds it.
FOUND = {
    ('concurrent_map.cuh', 'before();', ';'):
        'warp8 1 - insert1 find1',
    ('concurrent_map.cuh', 'after();', ';'):
        'warp8 1 - insert1 insert1',
    ('concurrent_map.cuh', '__syncwarp(); // see below', ';'):
        'warp8 1 - find1 insert1',
    ('concurrent_map.cuh', 'after(); // 2', ';'):
        'warp8 1 - find1 insert1',
    ('concurrent_map.cuh', '__syncwarp(); // see below // 2', ';'):
        'warp8 1 - contains1 insert1',
    ('concurrent_map.cuh', 'after(); // 3', ';'):
        'warp8 1 - contains1 insert1',
    ('concurrent_map.cuh', '__syncwarp(); // see below // 3', ';'):
        'warp8 1 - erase1 insert1',
    ('concurrent_map.cuh', 'after(); // a search that fails may have seen that somebody else erased the key', ';'):
        'warp8 1 insert1 erase1 erase1',
    ('concurrent_map.cuh', 'cuda::atomic_thread_fence(cuda::memory_order_release, Table::scope);', 'fence(cuda::memory_order_relaxed'):
        'warp8 1 - insert1 find1',
    ('concurrent_map.cuh', 'cuda::atomic_thread_fence(cuda::memory_order_acquire, Table::scope);', 'fence(cuda::memory_order_relaxed'):
        'warp8 1 - find1 insert1',
    ('concurrent_map.cuh', '__syncwarp();', ';'):
        'warp8 1 - find1 insert1',
    ('map/packed_table.cuh', 'const Word side = mem::load(special(), access::acquire);', 'access::relaxed'):
        'packed8 1 - insert-1 walk-1',
    ('map/packed_table.cuh', 'access::acquire', 'access::relaxed'):
        'packed8 1 - insert1 walk1',
    ('map/packed_table.cuh', 'const Word before = mem::compare_exchange(slot, seen, gone, order);', 'only_acquires()'):
        'packed8 1 insert1 insert1 erase1',
    ('map/packed_table.cuh', 'const Word before = mem::compare_exchange(slot, seen, gone, order);', 'order, access::relaxed'):
        'packed8 1 insert1 erase1 erase1',
    ('map/packed_table.cuh', 'const Word seen = mem::compare_exchange(slot, Word{0, 0}, desired, order);', 'only_acquires()'):
        'packed8 1 - insert1 find1',
    ('map/packed_table.cuh', 'const Word seen = mem::compare_exchange(slot, Word{0, 0}, desired, order);', 'order, access::relaxed'):
        'packed8 1 - insert1 insert1',
    ('map/packed_table.cuh', 'Word seen = mem::load(slot, access::acquire); // before the path is read again', 'access::relaxed'):
        'packed16 1 insert2,insert3 insert1 insert1',
    ('map/packed_table.cuh', 'seen = mem::compare_exchange(slot, seen, desired, order);', 'only_acquires()'):
        'packed16 1 insert2,insert3 insert1 insert1',
    ('map/packed_table.cuh', 'seen = mem::compare_exchange(slot, seen, desired, order);', 'order, access::relaxed'):
        'packed16 1 insert2,insert3 insert1 insert1',
    ('map/packed_table.cuh', 'const access loads = order == ordering::relaxed ? access::relaxed : access::acquire;', 'access::relaxed'):
        'packed8 1 - insert1 find1',
    ('map/packed_table.cuh', 'load_granule(base + at, access::acquire, words);', 'access::relaxed'):
        'packed8 1 insert1,erase1 insert1 insert1',
    ('map/packed_table.cuh', 'result.end_word = mem::load(gate(), access::acquire);', 'access::relaxed'):
        'packed8 tight room3 1 insert2,insert3,insert4,erase3 insert1 erase2,insert1',
    ('map/packed_table.cuh', 'mem::compare_exchange(slot, seen, Word{seen.key, to_field<field>(value)}, order);', 'only_acquires()'):
        'packed8 1 insert1 assign1 apply1',
    ('map/packed_table.cuh', 'mem::compare_exchange(slot, seen, Word{seen.key, to_field<field>(value)}, order);', 'order, access::relaxed'):
        'packed8 1 insert1 assign1 apply1',
    ('map/packed_table.cuh', 'mem::compare_exchange(now.end, now.end_word, desired, order, access::relaxed),', 'ordering::relaxed'):
        'packed8 1 insert2,insert3 insert1 insert1',
    ('map/packed_table.cuh', 'mem::compare_exchange(now.tombstone, free, desired, order, access::relaxed); // O3', 'ordering::relaxed'):
        'packed8 1 insert1,erase1 insert1 insert1',
    ('map/packed_table.cuh', 'const Word seen = mem::compare_exchange(special(), Word{0, 0}, Word{1, other}, order);', 'only_acquires()'):
        'packed8 1 - insert-1 find-1',
    ('map/packed_table.cuh', 'const Word seen = mem::compare_exchange(special(), Word{0, 0}, Word{1, other}, order);', 'order, access::relaxed'):
        'packed8 1 - insert-1 insert-1',
    ('map/packed_warp.cuh', '__syncwarp(); // in this round each lane knows what the others have acquired before: P3', ';'):
        'warp8 1 insert3,insert4 insert1 erase3,insert1,insert2',
    ('map/packed_warp.cuh', 'Table::load_granule(granule, access::acquire, words[i]);', 'access::relaxed'):
        'warp8 1 insert3,insert4 insert1 erase3,insert1,insert2',
    ('map/slot_table.cuh', 'return state(i).load(cuda::memory_order_acquire);', 'cuda::memory_order_relaxed'):
        'state 1 insert1 find1 erase1',
    ('map/slot_table.cuh', 'state(i).store(s, cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'state 1 - insert1 find1',
    ('map/slot_table.cuh', 'cuda::memory_order_acquire,', 'cuda::memory_order_relaxed, cuda::memory_order_relaxed'):
        'state 1 insert1 find1 assign1',
    ('map/slot_table.cuh', 'state(i).fetch_sub(one_reader, cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'state 1 insert1 find1 assign1',
    ('map/word.cuh', 'return unpack(number.load(cuda::memory_order_acquire));', 'cuda::memory_order_relaxed'):
        'packed8 1 - insert1 walk1',
    ('map/word.cuh', 'cuda::memory_order_release,', 'cuda::memory_order_relaxed'):
        'packed8 1 insert2,insert3 insert1 insert1',
    ('map/word.cuh', 'cuda::memory_order_acq_rel,', 'cuda::memory_order_acquire, cuda::memory_order_acquire'):
        'packed8 1 - insert1 find1',
    ('map/word.cuh', 'cuda::memory_order_acq_rel,', 'cuda::memory_order_release, cuda::memory_order_relaxed'):
        'packed8 1 - insert1 insert1',
    ('map/word.cuh', '.store(pack(value), cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'packed8 1 insert2,insert3,erase3 insert1 erase2,insert1',
    ('map/word.cuh', 'asm volatile("ld.acquire." SCOPE ".global.v2.b64 {%0,%1}, [%2];"', 'ld.relaxed'):
        'packed8 1 - insert1 find1',
    ('map/word.cuh', 'asm volatile("{\\n\\t.reg .b128 r;\\n\\tld.acquire." SCOPE', 'ld.relaxed'):
        'packed16 1 - insert1 find1',
    ('map/word.cuh', 'HEDDLE_CAS_AS("atom.release.", SCOPE);', 'atom.relaxed'):
        'packed16 1 insert1,erase1 insert1 insert1',
    ('map/word.cuh', 'HEDDLE_CAS_AS("atom.acq_rel.", SCOPE);', 'atom.acquire'):
        'packed16 1 - insert1 find1',
    ('map/word.cuh', 'HEDDLE_CAS_AS("atom.acq_rel.", SCOPE);', 'atom.release'):
        'packed16 1 - insert1 insert1',
    ('map/word.cuh', 'for (word16 held; !same(held = compare_exchange(p, seen, value, ordering::synchronizing), seen);', 'ordering::relaxed'):
        'packed16 1 insert2,insert3,erase3 insert1 erase2,insert1',
    ('mpmc_queue.cuh', 'while (turn(c).load(cuda::memory_order_acquire) != turn_to_write(p)) {', 'cuda::memory_order_relaxed'):
        'queue full push pop',
    ('mpmc_queue.cuh', 'while (turn(c).load(cuda::memory_order_acquire) != turn_to_write(p) + 1) {', 'cuda::memory_order_relaxed'):
        'queue empty push pop',
    ('mpmc_queue.cuh', 'const std::uint64_t seen = turn(c).load(cuda::memory_order_acquire);', 'cuda::memory_order_relaxed'):
        'queue full pop try_push',
    ('mpmc_queue.cuh', 'const std::uint64_t seen = turn(c).load(cuda::memory_order_acquire); // 2', 'cuda::memory_order_relaxed'):
        'queue empty push try_pop',
    ('mpmc_queue.cuh', 'turn(c).store(turn_to_write(p) + 1, cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'queue empty push pop',
    ('mpmc_queue.cuh', 'turn(c).store(turn_to_write(p) + 2, cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'queue full push pop',
    ('mutex.cuh', '.compare_exchange_strong(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed);', 'cuda::memory_order_relaxed'):
        'mutex empty lock lock',
    ('mutex.cuh', 'HEDDLE_ANYWHERE void unlock() { word().store(0, cuda::memory_order_release); }', 'cuda::memory_order_relaxed'):
        'mutex empty lock lock',
    ('mutex.cuh', 'while (serving().load(cuda::memory_order_acquire) != mine) {', 'cuda::memory_order_relaxed'):
        'ticket_mutex empty lock lock',
    ('mutex.cuh', 'std::uint32_t now = serving().load(cuda::memory_order_acquire);', 'cuda::memory_order_relaxed'):
        'ticket_mutex empty lock try_lock',
    ('mutex.cuh', 'serving().store(serving().load(cuda::memory_order_relaxed) + 1, cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'ticket_mutex empty lock lock',
    ('once.cuh', 'std::uint32_t seen = state().load(cuda::memory_order_acquire);', 'cuda::memory_order_relaxed'):
        'once empty call call',
    ('once.cuh', 'HEDDLE_ANYWHERE bool done() { return state().load(cuda::memory_order_acquire) == called; }', 'cuda::memory_order_relaxed'):
        'once empty call done',
    ('once.cuh', 'of.state().store(succeeded ? called : not_called, cuda::memory_order_release);', 'cuda::memory_order_relaxed'):
        'once empty call call',
}
# The same: why no program does.
UNNEEDED = {
    ('once.cuh', 'cuda::memory_order_acquire, // a call that threw', 'cuda::memory_order_relaxed'):
        'only what a call has done that threw comes before a later call: that is the host\'s',
}
