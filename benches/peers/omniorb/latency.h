// What the programs of latency.idl share: payloads, digests, and macros over the operations of the interfaces.
#pragma once
#include "latency.hh"
#include <cstdint>
#include <cstring>

// Number and sum of the elements: benches/papers/latency/common.rs.
template <class Seq, class Each> uint64_t folded(const Seq &all, Each each) {
  uint64_t sum = all.length();
  const auto *at = all.get_buffer();
  for (size_t i = 0, len = all.length(); i < len; i++) sum += each(at[i]);
  return sum;
}
typedef Latency::tcp_sequence Tcp;

inline uint64_t digest(const Tcp::ShortSeq &all) {
  return folded(all, [](CORBA::Short one) { return uint64_t(uint16_t(one)); });
}
inline uint64_t digest(const Tcp::CharSeq &all) {
  return folded(all, [](CORBA::Char one) { return uint64_t(uint8_t(one)); });
}
inline uint64_t digest(const Tcp::DoubleSeq &all) {
  return folded(all, [](CORBA::Double one) { uint64_t bits; memcpy(&bits, &one, 8); return bits; });
}
inline uint64_t digest(const Tcp::StructSeq &all) {
  return folded(all, [](const Latency::BinStruct &one) {
    uint64_t bits;
    memcpy(&bits, &one.d, 8);
    return (uint64_t(uint32_t(one.l)) | uint64_t(uint16_t(one.s)) << 32 | uint64_t(uint8_t(one.c)) << 48 |
            uint64_t(one.o) << 56) + bits;
  });
}
// The sums of benches/peers/floor/src/digest.rs.
inline uint64_t digest(const Tcp::LongSeq &all) {
  uint32_t sum = 0;
  const CORBA::Long *at = all.get_buffer();
  for (size_t i = 0, len = all.length(); i < len; i++) sum += uint32_t(at[i]);
  return all.length() + uint64_t(sum);
}
inline uint64_t digest(const Tcp::OctetSeq &all) {
  const unsigned char *at = all.get_buffer();
  size_t len = all.length(), i = 0;
  uint64_t sum = len, word;
  for (; i + 8 <= len; i += 8) {
    memcpy(&word, at + i, 8);
    sum += word;
  }
  for (; i < len; i++) sum += at[i];
  return sum;
}

#define OPERATIONS_10(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define OPERATIONS_100(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) \
  X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) \
  X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) \
  X(30) X(31) X(32) X(33) X(34) X(35) X(36) X(37) X(38) X(39) \
  X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48) X(49) \
  X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57) X(58) X(59) \
  X(60) X(61) X(62) X(63) X(64) X(65) X(66) X(67) X(68) X(69) \
  X(70) X(71) X(72) X(73) X(74) X(75) X(76) X(77) X(78) X(79) \
  X(80) X(81) X(82) X(83) X(84) X(85) X(86) X(87) X(88) X(89) \
  X(90) X(91) X(92) X(93) X(94) X(95) X(96) X(97) X(98) X(99)
