// Cubes of everything in benches/papers/cubit.idl, for the server that makes them and the client that checks them.
#pragma once
#include "cubit.hh"
#include "papers.h"

using namespace Papers::Cubit;

// As many of the number's own bits as it has: cubes wrap.
template <typename Number> Number cube(Number it) {
  uint32_t wide = uint32_t(it);
  return Number(wide * wide * wide);
}

inline Many cube(const Many &it) {
  Many cubed;
  cubed.o = cube(it.o), cubed.l = cube(it.l), cubed.s = cube(it.s);
  return cubed;
}

template <typename Seq> Seq *cubes(const Seq &data) {
  size_t len = data.length();
  Seq *cubed = new Seq(len);
  cubed->length(len);
  const auto *from = data.get_buffer();
  auto *to = cubed->get_buffer();
  for (size_t i = 0; i < len; i++) to[i] = cube(from[i]);
  return cubed;
}

inline uint64_t digest_many(const Many &it) {
  return uint64_t(uint32_t(it.l)) | uint64_t(uint16_t(it.s)) << 32 | uint64_t(it.o) << 56;
}

inline uint64_t digest(const LongSeq &data) {
  uint32_t sum = 0;
  const CORBA::Long *at = data.get_buffer();
  for (size_t i = 0; i < data.length(); i++) sum += uint32_t(at[i]);
  return data.length() + uint64_t(sum);
}

inline uint64_t digest(const ManySeq &data) {
  uint64_t sum = data.length();
  const Many *at = data.get_buffer();
  for (size_t i = 0; i < data.length(); i++) sum += digest_many(at[i]);
  return sum;
}

inline bool same(const Many &a, const Many &b) { return a.o == b.o && a.l == b.l && a.s == b.s; }
template <typename Number> bool same(Number a, Number b) { return a == b; }

template <typename Seq> bool all_same(const Seq &a, const Seq &b) {
  if (a.length() != b.length()) return false;
  const auto *one = a.get_buffer();
  const auto *other = b.get_buffer();
  for (size_t i = 0; i < a.length(); i++)
    if (!same(one[i], other[i])) return false;
  return true;
}
