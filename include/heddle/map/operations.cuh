// What one thread can do with a table, in the words of the map's interface: shared by the map
// itself (host side) and by its ref (device side), which differ only in who may call them.
#pragma once

#include "layout.cuh"
#include <cuda/std/optional>

namespace heddle {
namespace detail {

struct leave_it {
  static constexpr bool writes = false;
  template <class Value> HEDDLE_ANYWHERE void operator()(Value&) const {}
};
template <class Value> struct assign_to {
  static constexpr bool writes = true;
  const Value& value;
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE void operator()(Value& old) const { old = value; }
};
template <class Function> struct apply_to {
  static constexpr bool writes = true;
  Function& function;
  HEDDLE_NO_EXEC_CHECK
  template <class Value> HEDDLE_ANYWHERE void operator()(Value& value) const { function(value); }
};
template <class Value> struct copy_of {
  const Value& value;
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE Value operator()() const { return value; }
};
template <class Value, class Function> struct applied_to_default {
  Function& function;
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE Value operator()() const {
    Value value{};
    function(value);
    return value;
  }
};
template <class Value> struct copy_into {
  cuda::std::optional<Value>& target;
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE void operator()(const Value& value) const { target.emplace(value); }
};
struct ignore {
  template <class... Anything> HEDDLE_ANYWHERE void operator()(const Anything&...) const {}
};

template <class Table, class Key, class Value> struct operations {
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE static insert_result
  try_insert(const Table& table, ordering order, const Key& key, const Value& value) {
    return table.upsert(key, order, copy_of<Value>{value}, leave_it());
  }
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE static insert_result
  insert_or_assign(const Table& table, ordering order, const Key& key, const Value& value) {
    return table.upsert(key, order, copy_of<Value>{value}, assign_to<Value>{value});
  }
  HEDDLE_NO_EXEC_CHECK
  template <class Function>
  HEDDLE_ANYWHERE static insert_result
  insert_or_apply(const Table& table, ordering order, const Key& key, Function&& function) {
    using plain = std::remove_reference_t<Function>;
    return table
        .upsert(key, order, applied_to_default<Value, plain>{function}, apply_to<plain>{function});
  }
  HEDDLE_NO_EXEC_CHECK
  template <class Function>
  HEDDLE_ANYWHERE static insert_result insert_or_apply(
      const Table& table,
      ordering order,
      const Key& key,
      const Value& initial,
      Function&& function
  ) {
    using plain = std::remove_reference_t<Function>;
    return table.upsert(key, order, copy_of<Value>{initial}, apply_to<plain>{function});
  }
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE static cuda::std::optional<Value>
  find(const Table& table, ordering order, const Key& key) {
    cuda::std::optional<Value> result;
    table.visit(key, order, copy_into<Value>{result});
    return result;
  }
};

} // namespace detail
} // namespace heddle
