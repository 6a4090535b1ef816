// The rules of interop.idl that both programs need: twist, digest and sample values.
// One `visit` per type walks its members in order of declaration; Twist and Digest are the two visitors.
#pragma once
#include "interop.hh"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <type_traits>

namespace rules {

using namespace Interop;
using namespace Interop::Types;

// What strings in this program are (-ORBnativeCharCodeSet): UTF-8, ISO 8859-5, or ISO 8859-1, which
// is omniORB's default.
inline bool native_utf8 = false, native_cyrillic = false;

inline std::string arg(int argc, char **argv, const char *name, const char *otherwise = "") {
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], name)) return argv[i + 1];
  return otherwise;
}
inline void set_native(const std::string &code_set) {
  native_utf8 = !strcasecmp(code_set.c_str(), "UTF-8");
  native_cyrillic = !strcasecmp(code_set.c_str(), "ISO-8859-5");
  // Code sets beyond ISO 8859-1, UTF-8 and UTF-16 are in a library of their own, which registers them
  // when it is loaded; and then every reference offers them all.
  if (native_cyrillic && !dlopen("libomniCodeSets4.so.2", RTLD_NOW)) fprintf(stderr, "%s\n", dlerror());
}
inline bool flag(int argc, char **argv, const char *name) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name)) return true;
  return false;
}

inline CORBA::Char other_case(CORBA::Char c) {
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter ? c ^ 0x20 : c;
}
inline std::string twisted(const char *s) {
  std::string t(s);
  for (char &c : t) c = char(other_case(CORBA::Char(c)));
  return t;
}

// omniORB keeps wide text as UTF-16 units, one in each wchar_t.
using WideString = std::basic_string<CORBA::WChar>;
inline CORBA::WChar other_case_wide(CORBA::WChar c) { return c < 0x80 ? CORBA::WChar(other_case(CORBA::Char(c))) : c; }
inline WideString twisted(const CORBA::WChar *s) {
  WideString t(s);
  for (CORBA::WChar &c : t) c = other_case_wide(c);
  return t;
}

inline uint32_t of_cyrillic(uint32_t octet) { // ISO 8859-5
  if (octet <= 0xa0 || octet == 0xad) return octet;
  return octet == 0xf0 ? 0x2116 : octet == 0xfd ? 0xa7 : octet + 0x360;
}
// The octet of a code point in this program's own single-octet code set, or 0.
inline uint8_t native_octet(uint32_t c) {
  if (!native_cyrillic) return c < 0x100 ? c : 0;
  for (uint32_t o = 1; o < 0x100; o++)
    if (of_cyrillic(o) == c) return o;
  return 0;
}
// The next code point of a string in this program's own code set. Never beyond its end.
inline uint32_t next(const uint8_t *&u) {
  uint32_t c = *u++;
  if (native_cyrillic) return of_cyrillic(c);
  if (native_utf8 && c >= 0xc0) {
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    c &= 0x3f >> more;
    for (; more && (*u & 0xc0) == 0x80; more--) c = c << 6 | (*u++ & 0x3f);
  }
  return c;
}
inline WideString widened(const char *s) {
  WideString w;
  for (auto u = reinterpret_cast<const uint8_t *>(s); *u;) {
    uint32_t c = next(u);
    if (c > 0xffff) w += CORBA::WChar(0xd800 + ((c - 0x10000) >> 10)), c = 0xdc00 + ((c - 0x10000) & 0x3ff);
    w += CORBA::WChar(c);
  }
  return w;
}
inline std::string narrowed(const CORBA::WChar *s) {
  std::string t;
  while (*s) {
    uint32_t c = *s++;
    if ((c & 0xfc00) == 0xd800 && (*s & 0xfc00) == 0xdc00) c = 0x10000 + ((c & 0x3ff) << 10) + (*s++ & 0x3ff);
    if (!native_utf8) {
      if (!native_octet(c)) throw CORBA::DATA_CONVERSION(0, CORBA::COMPLETED_NO);
      t += char(native_octet(c));
    } else if (c < 0x80) t += char(c);
    else if (c < 0x800) t += char(0xc0 | c >> 6), t += char(0x80 | (c & 0x3f));
    else if (c < 0x10000) t += char(0xe0 | c >> 12), t += char(0x80 | (c >> 6 & 0x3f)), t += char(0x80 | (c & 0x3f));
    else {
      t += char(0xf0 | c >> 18), t += char(0x80 | (c >> 12 & 0x3f));
      t += char(0x80 | (c >> 6 & 0x3f)), t += char(0x80 | (c & 0x3f));
    }
  }
  return t;
}

// ---- walking ----------------------------------------------------------------------

template <class V> void visit(V &v, CORBA::Short &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::UShort &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::Long &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::ULong &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::LongLong &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::ULongLong &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::Octet &x) { v.bits(x); }
template <class V> void visit(V &v, CORBA::Float &x) { v.real(x); }
template <class V> void visit(V &v, CORBA::Double &x) { v.real(x); }
template <class V> void visit(V &v, CORBA::Boolean &x) { v.truth(x); }
// omniORB's Char and Octet are one C++ type, so a char announces itself.
struct Letter {
  CORBA::Char &c;
};
template <class V> void visit(V &v, const Letter &x) { v.letter(x.c); }
template <class V> void visit(V &v, CORBA::String_member &x) { v.text(x); }
template <class V> void visit(V &v, CORBA::WChar &x) { v.wide_letter(x); }
template <class V> void visit(V &v, CORBA::WString_member &x) { v.wide_text(x); }
template <class V> void visit(V &v, Suit &x) { v.ordinal(x, 4); }
template <class V> void visit(V &v, let &x) { v.ordinal(x, 3); }
template <class V> void visit(V &v, Shapes::Colour &x) { v.ordinal(x, 4); }

template <class V, class T, size_t N> void visit(V &v, T (&x)[N]) {
  for (T &e : x) visit(v, e);
}
template <class V, class S> auto visit(V &v, S &x) -> decltype(x.length(CORBA::ULong(0)), void()) { v.sequence(x); }

template <class V> void visit_all(V &) {}
template <class V, class T, class... R> void visit_all(V &v, T &&x, R &&...rest) {
  visit(v, x);
  visit_all(v, rest...);
}
template <class V> void visit(V &v, Shapes::Point &x) { visit_all(v, x.x, x.y); }
template <class V> void visit(V &v, Odd &x) {
  visit_all(v, x.o, x.d, Letter{x.c}, x.s, x.b, x.ll, x.p, x.f, x.q, x.l, x.r, x.us, x.ul, x.t, x.ull);
}
template <class V> void visit(V &v, Inner &x) { visit_all(v, x.mark, x.big, x.tail); }
template <class V> void visit(V &v, Outer &x) {
  visit_all(v, Letter{x.first}, x.core, x.gap, x.where, x.suit_, x.flag, x.pair, x.id, x.text, x.pad, x.short_text, x.same_1,
            x.same_2, x.same_3);
}
template <class V> void visit(V &v, Bundle &x) {
  visit_all(v, x.g0, x.booleans, x.g1, x.chars, x.g2, x.octets, x.g3, x.shorts, x.g4, x.ushorts, x.g5, x.longs, x.g6,
            x.ulongs, x.g7, x.longlongs, x.g8, x.ulonglongs, x.g9, x.floats);
  visit_all(v, x.ga, x.doubles, x.gb, x.suits, x.gc, x.strings, x.gd, x.few);
}
template <class V> void visit(V &v, WideBundle &x) {
  visit_all(v, x.g0, x.first, x.g1, x.text, x.g2, x.chars, x.g3, x.texts, x.g4, x.last, x.end);
}
template <class V> void visit(V &v, loop &x) { visit_all(v, x.type, x.fn, x.ref, x._cxx_struct); }

// ---- twist ------------------------------------------------------------------------

struct Twist {
  template <class T> void bits(T &x) { x = T(~x); }
  template <class T> void real(T &x) { x = -x; }
  void truth(CORBA::Boolean &x) { x = !x; }
  void letter(CORBA::Char &x) { x = other_case(x); }
  template <class S> void text(S &x) { x = CORBA::string_dup(twisted(x).c_str()); }
  void wide_letter(CORBA::WChar &x) { x = other_case_wide(x); }
  template <class S> void wide_text(S &x) { x = CORBA::wstring_dup(twisted((const CORBA::WChar *)x).c_str()); }
  template <class E> void ordinal(E &x, int n) { x = E((int(x) + 1) % n); }
  template <class S> void sequence(S &x) {
    S old(x);
    CORBA::ULong n = old.length();
    for (CORBA::ULong i = 0; i < n; i++) put(x, i, old, n - 1 - i);
  }
  void sequence(CharSeq &x) {
    CharSeq old(x);
    for (CORBA::ULong i = 0, n = x.length(); i < n; i++) x[i] = other_case(old[n - 1 - i]);
  }
  void sequence(WStringSeq &x) {
    WStringSeq old(x);
    CORBA::ULong n = old.length();
    for (CORBA::ULong i = 0; i < n; i++)
      x[i] = CORBA::wstring_dup(twisted((const CORBA::WChar *)old[n - 1 - i]).c_str());
  }
  void sequence(PairSeq &x) { // its elements are arrays: operator[] gives a pointer to the first Inner
    PairSeq old(x);
    CORBA::ULong n = old.length();
    for (CORBA::ULong i = 0; i < n; i++)
      for (int k = 0; k < 2; k++) {
        x[i][k] = old[n - 1 - i][k];
        visit(*this, x[i][k]);
      }
  }

private:
  template <class S> auto put(S &x, CORBA::ULong i, S &old, CORBA::ULong j)
      -> std::enable_if_t<std::is_lvalue_reference_v<decltype(x[i])>> {
    x[i] = old[j];
    visit(*this, x[i]);
  }
  template <class S> auto put(S &x, CORBA::ULong i, S &old, CORBA::ULong j)
      -> std::enable_if_t<!std::is_lvalue_reference_v<decltype(x[i])>> { // strings
    x[i] = CORBA::string_dup(twisted(old[j]).c_str());
  }
};

template <class T> void twist(T &x) {
  Twist t;
  visit(t, x);
}

// ---- digest -----------------------------------------------------------------------

struct Digest {
  uint64_t h = 0xcbf29ce484222325ull;
  void octets(uint64_t x, size_t n) {
    for (size_t i = 0; i < n; i++, x >>= 8) h = (h ^ (x & 0xff)) * 0x100000001b3ull;
  }
  template <class T> void bits(T &x) { octets(uint64_t(x), sizeof x); }
  void real(CORBA::Float &x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    octets(b, 4);
  }
  void real(CORBA::Double &x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    octets(b, 8);
  }
  void truth(CORBA::Boolean &x) { octets(x ? 1 : 0, 1); }
  void letter(CORBA::Char &x) { octets(x, 1); }
  template <class E> void ordinal(E &x, int) { octets(uint64_t(int(x)), 4); }
  void chars(const char *s) {
    auto u = reinterpret_cast<const uint8_t *>(s);
    uint32_t n = 0;
    for (const uint8_t *p = u; *p; p++)
      if (!native_utf8 || (*p & 0xc0) != 0x80) n++;
    octets(n, 4);
    while (*u) octets(next(u), 4);
  }
  template <class S> void text(S &x) { chars(x); }
  void wide_letter(CORBA::WChar &x) { octets(uint64_t(x), 2); }
  void units(const CORBA::WChar *s) {
    uint32_t n = 0;
    while (s[n]) n++;
    octets(n, 4);
    for (; *s; s++) octets(uint64_t(*s), *s > 0xffff ? 4 : 2); // there are no such units: that digest is wrong
  }
  template <class S> void wide_text(S &x) { units(x); }
  void sequence(WStringSeq &x) {
    octets(x.length(), 4);
    for (CORBA::ULong i = 0; i < x.length(); i++) units(x[i]);
  }
  template <class S> void sequence(S &x) {
    octets(x.length(), 4);
    for (CORBA::ULong i = 0; i < x.length(); i++) element(x, i);
  }
  void sequence(PairSeq &x) {
    octets(x.length(), 4);
    for (CORBA::ULong i = 0; i < x.length(); i++)
      for (int k = 0; k < 2; k++) visit(*this, x[i][k]);
  }

private:
  template <class S> auto element(S &x, CORBA::ULong i)
      -> std::enable_if_t<std::is_lvalue_reference_v<decltype(x[i])>> {
    visit(*this, x[i]);
  }
  template <class S> auto element(S &x, CORBA::ULong i)
      -> std::enable_if_t<!std::is_lvalue_reference_v<decltype(x[i])>> {
    chars(x[i]);
  }
};

inline void add(Digest &d, const char *s) { d.chars(s); }
inline void add(Digest &d, char *s) { d.chars(s); }
inline void add(Digest &d, const CORBA::String_var &s) { d.chars(s); }
inline void add(Digest &d, const CORBA::WChar *s) { d.units(s); }
inline void add(Digest &d, CORBA::WChar *s) { d.units(s); }
template <class T> void add(Digest &d, const T &x) { visit(d, const_cast<T &>(x)); } // Digest only reads

template <class... T> CORBA::ULongLong digest(const T &...x) {
  Digest d;
  (add(d, x), ...);
  return d.h;
}

inline CORBA::ULongLong digest_of_constants() {
  return digest(CORBA::Short(small), CORBA::ULong(list_bound), CORBA::LongLong(far), CORBA::ULongLong(farther),
                CORBA::Octet(mask), CORBA::Char(Types::letter), CORBA::Char(newline), CORBA::Boolean(yes),
                CORBA::Float(quarter), CORBA::Double(third), (const char *)greeting, CORBA::UShort(tag_bound),
                Suit(trump));
}

} // namespace rules
