// What a servant makes of its arguments: the sums of benches/peers/floor/src/digest.rs.
#pragma once
#include "bench.hh"
#include <cstdint>
#include <cstring>

inline uint64_t digest_octets(const unsigned char *at, size_t len) {
  uint64_t sum = len, word;
  size_t i = 0;
  for (; i + 8 <= len; i += 8) {
    memcpy(&word, at + i, 8); // little-endian, as everything that these programs run on
    sum += word;
  }
  for (; i < len; i++) sum += at[i];
  return sum;
}

inline uint64_t digest_longs(const Bench::LongSeq &longs) {
  uint32_t sum = 0;
  size_t len = longs.length();
  const CORBA::Long *at = longs.get_buffer();
  for (size_t i = 0; i < len; i++) sum += uint32_t(at[i]);
  return len + sum;
}

inline uint64_t digest_structs(const Bench::StructSeq &structs) {
  uint64_t sum = structs.length(), bits;
  size_t len = structs.length();
  const Bench::BinStruct *at = structs.get_buffer();
  for (size_t i = 0; i < len; i++) {
    memcpy(&bits, &at[i].d, 8);
    sum += (uint64_t(uint32_t(at[i].l)) | uint64_t(uint16_t(at[i].s)) << 32 | uint64_t(uint8_t(at[i].c)) << 48 |
            uint64_t(at[i].o) << 56) +
           bits;
  }
  return sum;
}

inline uint64_t digest_octets(const Bench::OctetSeq &octets) {
  return digest_octets(octets.get_buffer(), octets.length());
}

inline uint64_t digest_text(const char *text) {
  return digest_octets(reinterpret_cast<const unsigned char *>(text), strlen(text));
}
