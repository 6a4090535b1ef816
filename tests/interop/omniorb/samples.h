// Values the client sends. Every member has a value of its own, so that a swap shows.
#pragma once
#include "rules.h"

namespace rules {

// A small generator, so that samples differ and repeat from run to run (splitmix64).
struct Dice {
  uint64_t s;
  uint64_t roll() {
    uint64_t z = (s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  CORBA::Char letter() { return CORBA::Char("aZbYcXdW"[roll() % 8]); }
  double real() { return double(int64_t(roll())) / 1024.0; }
  std::string word(size_t most) {
    std::string w;
    for (size_t n = roll() % (most + 1); n; n--) w += char(letter());
    return w;
  }
};

template <class T> void fill(Dice &d, T &x) { x = T(d.roll()); } // whole numbers
inline void fill(Dice &d, CORBA::Float &x) { x = float(int32_t(d.roll())) / 16; }
inline void fill(Dice &d, CORBA::Double &x) { x = d.real(); }
inline void fill(Dice &d, CORBA::Boolean &x) { x = d.roll() & 1; }
inline void fill(Dice &d, Suit &x) { x = Suit(d.roll() % 4); }
inline void fill(Dice &d, CORBA::String_member &x) { x = CORBA::string_dup(d.word(20).c_str()); }
inline void fill(Dice &d, Shapes::Point &x) { fill(d, x.x), fill(d, x.y); }
inline void fill(Dice &d, Odd &x) {
  fill(d, x.o), fill(d, x.d), x.c = d.letter(), fill(d, x.s), fill(d, x.b), fill(d, x.ll), fill(d, x.p), fill(d, x.f);
  fill(d, x.q), fill(d, x.l), fill(d, x.r), fill(d, x.us), fill(d, x.ul), fill(d, x.t), fill(d, x.ull);
}
inline void fill(Dice &d, Inner &x) { fill(d, x.mark), fill(d, x.big), fill(d, x.tail); }
inline void fill(Dice &d, Outer &x) {
  x.first = d.letter(), fill(d, x.core), fill(d, x.gap), fill(d, x.where), fill(d, x.suit_), fill(d, x.flag);
  fill(d, x.pair[0]), fill(d, x.pair[1]);
  for (CORBA::Octet &o : x.id) fill(d, o);
  fill(d, x.text), fill(d, x.pad), x.short_text = CORBA::string_dup(d.word(12).c_str());
  fill(d, x.same_1), fill(d, x.same_2), fill(d, x.same_3);
}
template <class S> void fill_seq(Dice &d, S &x, CORBA::ULong n) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) fill(d, x[i]);
}
inline void fill_seq(Dice &d, CharSeq &x, CORBA::ULong n) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) x[i] = d.letter();
}
template <class S> void fill_texts(Dice &d, S &x, CORBA::ULong n, size_t most) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) x[i] = CORBA::string_dup(d.word(most).c_str());
}
inline void fill_seq(Dice &d, StringSeq &x, CORBA::ULong n) { fill_texts(d, x, n, 30); }
inline void fill_seq(Dice &d, TagSeq &x, CORBA::ULong n) { fill_texts(d, x, n, 12); }
inline void fill_seq(Dice &d, TwoTags &x, CORBA::ULong n) { fill_texts(d, x, n, 3); }
inline void fill_seq(Dice &d, PairSeq &x, CORBA::ULong n) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) fill(d, x[i][0]), fill(d, x[i][1]);
}
inline void fill_seq(Dice &d, LongSeqSeq &x, CORBA::ULong n) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) fill_seq(d, x[i], (i * 2) % 5);
}
inline void fill_seq(Dice &d, TwoLists &x, CORBA::ULong n) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) fill_seq(d, x[i], i ? 0 : 5);
}
inline void fill_seq(Dice &d, ShortCube &x, CORBA::ULong n) {
  x.length(n);
  for (CORBA::ULong i = 0; i < n; i++) {
    x[i].length(i % 3);
    for (CORBA::ULong j = 0; j < x[i].length(); j++) fill_seq(d, x[i][j], (i + j) % 4);
  }
}
inline void fill(Dice &d, Bundle &x, CORBA::ULong n) {
  fill(d, x.g0), fill_seq(d, x.booleans, n), fill(d, x.g1), fill_seq(d, x.chars, n + 1), fill(d, x.g2);
  fill_seq(d, x.octets, n), fill(d, x.g3), fill_seq(d, x.shorts, n), fill(d, x.g4), fill_seq(d, x.ushorts, n + 1);
  fill(d, x.g5), fill_seq(d, x.longs, n), fill(d, x.g6), fill_seq(d, x.ulongs, n), fill(d, x.g7);
  fill_seq(d, x.longlongs, n), fill(d, x.g8), fill_seq(d, x.ulonglongs, n), fill(d, x.g9), fill_seq(d, x.floats, n);
  fill(d, x.ga), fill_seq(d, x.doubles, n), fill(d, x.gb), fill_seq(d, x.suits, n), fill(d, x.gc);
  fill_seq(d, x.strings, n), fill(d, x.gd), fill_seq(d, x.few, n < 3 ? n : 3);
}

} // namespace rules
