// The rules of rich.idl that both programs need: twist, digest, the values' factories, and what is in
// the anys. One `visit` per type walks its members in order of declaration; Twist and Digest are the
// visitors. Values are never given back: these programs end soon.
#pragma once
#include "rich.hh"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

namespace rich {

using namespace Rich;
using std::to_string;

inline CORBA::ORB_var orb;
// The peer itself, for k_object.
inline Rich::Peer_var self;

inline std::string arg(int argc, char **argv, const char *name, const char *otherwise = "") {
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], name)) return argv[i + 1];
  return otherwise;
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

// ---- values that somebody has to write --------------------------------------------

struct PlainValue : OBV_Rich::Plain {
  PlainValue() {}
  PlainValue(CORBA::Long number, const char *t, Suit s) : OBV_Rich::Plain(number, t, s) {}
  const char *get_text() const { return text(); }
  void set_text(const char *s) { text(s); }
};
struct AccountValue : OBV_Rich::Account, CORBA::DefaultValueRefCountBase {
  AccountValue() {}
  AccountValue(const char *owner, CORBA::LongLong balance) : OBV_Rich::Account(balance, owner) {}
  CORBA::LongLong deposit(CORBA::Long amount) override {
    quiet_balance(quiet_balance() + amount);
    return quiet_balance();
  }
  CORBA::LongLong balance() override { return quiet_balance(); }
  void set_balance(CORBA::LongLong b) { quiet_balance(b); }
};
struct SquareValue : OBV_Rich::Square, CORBA::DefaultValueRefCountBase {
  explicit SquareValue(CORBA::Double s = 0) : OBV_Rich::Square(s) {}
  CORBA::Double area() override { return side() * side(); }
};
struct RectangleValue : OBV_Rich::Rectangle, CORBA::DefaultValueRefCountBase {
  explicit RectangleValue(CORBA::Double w = 0, CORBA::Double h = 0) : OBV_Rich::Rectangle(w, h) {}
  CORBA::Double area() override { return wide() * high(); }
};
struct NoteValue : OBV_Rich::Note, CORBA::DefaultValueRefCountBase {
  explicit NoteValue(const char *t = "") : OBV_Rich::Note(t) {}
  char *describe() override { return CORBA::string_dup((std::string("note ") + text()).c_str()); }
};

// A new value of the type with this repository id; null for one that is not in rich.idl.
inline CORBA::ValueBase *fresh(const std::string &id) {
#define FRESH(T, ...)                                                                                                  \
  if (id == "IDL:zorb.test/Rich/" #T ":1.0") return new __VA_ARGS__
  FRESH(Plain, PlainValue);
  FRESH(Base, OBV_Rich::Base);
  FRESH(Derived, OBV_Rich::Derived);
  FRESH(Longer, OBV_Rich::Longer);
  FRESH(Longest, OBV_Rich::Longest);
  FRESH(Hidden, OBV_Rich::Hidden);
  FRESH(Empty, OBV_Rich::Empty);
  FRESH(Node, OBV_Rich::Node);
  FRESH(Boxes, OBV_Rich::Boxes);
  FRESH(Account, AccountValue);
  FRESH(Square, SquareValue);
  FRESH(Rectangle, RectangleValue);
  FRESH(Note, NoteValue);
  FRESH(LongBox, LongBox(0));
  FRESH(TextBox, TextBox(""));
  FRESH(WideBox, WideBox(std::basic_string<CORBA::WChar>().c_str()));
  FRESH(PointBox, PointBox);
  FRESH(ListBox, ListBox);
  FRESH(UnionBox, UnionBox);
#undef FRESH
  return nullptr;
}

struct Factory : CORBA::ValueFactoryBase {
  explicit Factory(std::string id) : id_(std::move(id)) {}
  CORBA::ValueBase *create_for_unmarshal() override { return fresh(id_); }

private:
  std::string id_;
};
// All but that of Hidden.
inline void register_factories() {
  for (const char *name : {"Plain", "Base", "Derived", "Longer", "Longest", "Empty", "Node", "Boxes", "Account",
                           "Square", "Rectangle", "Note"}) {
    std::string id = std::string("IDL:zorb.test/Rich/") + name + ":1.0";
    CORBA::ValueFactoryBase *old = orb->register_value_factory(id.c_str(), new Factory(id));
    if (old) old->_remove_ref();
  }
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
template <class V> void visit(V &v, ByOwn::Own &x) { v.ordinal(x, 2); }
template <class V, CORBA::UShort D, CORBA::UShort S> void visit(V &v, _omni_Fixed<D, S> &x) { v.decimal(x, D, S); }

template <class V, class T, size_t N> void visit(V &v, T (&x)[N]) {
  for (T &e : x) visit(v, e);
}
template <class V, class T> auto visit(V &v, T &x) -> std::enable_if_t<std::is_base_of_v<CORBA::ValueBase, std::remove_pointer_t<T>> && std::is_pointer_v<T>> {
  x = static_cast<T>(v.template value<std::remove_pointer_t<T>>(x));
}
template <class V, class T, class H> void visit(V &v, _CORBA_Value_Member<T, H> &x) {
  T *r = v.template value<T>(x.in());
  if (r != x.in()) x = r;
}
template <class V, class S> auto visit(V &v, S &x) -> decltype(x.length(CORBA::ULong(0)), void()) { v.sequence(x); }

template <class V> void visit_all(V &) {}
template <class V, class T, class... R> void visit_all(V &v, T &&x, R &&...rest) {
  visit(v, x);
  visit_all(v, rest...);
}

// A member of a union: taken out, visited, put back; then the discriminator is what it was.
template <class V, class T, class P> void member(V &v, T taken, P put) {
  visit(v, taken);
  put(taken);
}
#define MEMBER(T, name)                                                                                                \
  member<V, T>(v, T(x.name()), [&](T &m) {                                                                             \
    x.name(m);                                                                                                         \
    x._d(d);                                                                                                           \
  })
#define LETTER(name)                                                                                                   \
  {                                                                                                                    \
    CORBA::Char m = x.name();                                                                                          \
    visit(v, Letter{m});                                                                                               \
    x.name(m);                                                                                                         \
    x._d(d);                                                                                                           \
  }
using Text = CORBA::String_member;
#define TEXT(name) member<V, Text>(v, Text((const char *)x.name()), [&](Text &m) { x.name((const char *)m), x._d(d); })
template <class V> void visit(V &v, Point &x) { visit_all(v, x.x, x.y); }
template <class V> void visit(V &v, ByLong &x) {
  CORBA::Long d = x._d();
  v.head(d);
  if (d == 1 || d == -7) TEXT(text);
  else if (d == 100) MEMBER(Point, at);
  else MEMBER(CORBA::Octet, other);
}
template <class V> void visit(V &v, ByShort &x) {
  CORBA::Short d = x._d();
  v.head(d);
  if (d == -3) MEMBER(CORBA::Double, real);
  else if (d == 300) MEMBER(LongSeq, list);
}
template <class V> void visit(V &v, ByUShort &x) {
  CORBA::UShort d = x._d();
  v.head(d);
  if (d == 7) MEMBER(CORBA::Octet, low);
  else if (d == 32767) MEMBER(CORBA::Boolean, high);
  else MEMBER(CORBA::Long, rest);
}
template <class V> void visit(V &v, ByULong &x) {
  CORBA::ULong d = x._d();
  v.head(d);
  if (d == 0) MEMBER(CORBA::Short, none);
  else if (d == 0xfedcba98u) MEMBER(CORBA::Double, high);
}
template <class V> void visit(V &v, ByBig &x) {
  CORBA::ULongLong d = x._d();
  v.head(d);
  if (d == 0) MEMBER(CORBA::Octet, none);
  else if (d == 5) MEMBER(CORBA::LongLong, five);
  else if (d == 0xfedcba9876543210ull) TEXT(far);
}
template <class V> void visit(V &v, ByLongLong &x) {
  CORBA::LongLong d = x._d();
  v.head(d);
  if (d == -5) TEXT(minus);
  else LETTER(letter)
}
template <class V> void visit(V &v, ByChar &x) {
  CORBA::Char d = x._d();
  v.head(d);
  if (d == 'a') MEMBER(CORBA::Long, small);
  else if (d == 'z' || d == 'Z') MEMBER(CORBA::Double, last);
}
template <class V> void visit(V &v, ByBoolean &x) {
  CORBA::Boolean d = x._d();
  v.head(d);
  if (d) TEXT(yes);
  else MEMBER(LongSeq, no);
}
template <class V> void visit(V &v, ByTruth &x) {
  CORBA::Boolean d = x._d();
  v.head(d);
  if (d) MEMBER(CORBA::Long, truth);
}
template <class V> void visit(V &v, BySuit &x) {
  Suit d = x._d();
  v.head(d);
  if (d == clubs || d == spades) MEMBER(CORBA::Octet, black);
  else if (d == hearts) TEXT(heart);
}
template <class V> void visit(V &v, ByOwn &x) {
  ByOwn::Own d = x._d();
  v.head(d);
  if (d == ByOwn::mine) MEMBER(CORBA::Short, here);
  else MEMBER(Point, there);
}
template <class V> void visit(V &v, Expr &x) {
  Op d = x._d();
  v.head(d);
  if (d == number) MEMBER(CORBA::Double, value);
  else if (d == negate) MEMBER(ExprSeq, one);
  else MEMBER(ExprSeq, all);
}
template <class V> void visit(V &v, MaybePlain &x) {
  CORBA::Boolean d = x._d();
  v.head(d);
  if (d) {
    Plain *was = x.it(), *m = v.template value<Plain>(was);
    if (m != was) x.it(m);
  }
}
template <class V> void visit(V &v, Unions &x) {
  visit_all(v, x.g0, x.a, x.g1, x.b, x.g2, x.c, x.g3, x.d, x.g4, x.e, x.g5, x.f, x.g6, x.g, x.g7, x.h, x.g8, x.i, x.g9,
            x.j, x.ga, x.k, x.gb, x.l, x.gc, x.m);
}
template <class V> void visit(V &v, Tree &x) { visit_all(v, x.label, x.kids, x.mark); }
template <class V> void visit(V &v, Chain &x) { visit_all(v, x.link, x.next); }
template <class V> void visit(V &v, Plainly &x) {
  visit_all(v, x.grid, x.tag, x.cube, x.wide, x.tags, x.named, x.last);
}
template <class V> void visit(V &v, Bill &x) {
  visit_all(v, x.g0, x.cost, x.g1, x.little, x.g2, x.much, x.g3, x.one, x.g4, x.part, x.g5, x.more, x.g6);
}
template <class V> void visit(V &v, Holder &x) {
  visit_all(v, x.g0, x.first, x.g1, x.second, x.maybe, x.many, x.at);
}
template <class V> void visit(V &v, Detailed &x) { visit_all(v, x.code, x.text, x.where); }

// The state of a value: read from `f`, visited, put into `t` unless that is the same.
#define STATE(T, name)                                                                                                 \
  {                                                                                                                    \
    T m(f.name());                                                                                                     \
    visit(v, m);                                                                                                       \
    if (&f != &t) t.name(m);                                                                                           \
  }
#define STATE_TEXT(get, set)                                                                                           \
  {                                                                                                                    \
    Text m((const char *)f.get());                                                                                     \
    visit(v, m);                                                                                                       \
    if (&f != &t) t.set((const char *)m);                                                                              \
  }
#define STATE_VALUE(T, name)                                                                                           \
  {                                                                                                                    \
    T *m = v.template value<T>(f.name());                                                                              \
    if (&f != &t) t.name(m);                                                                                           \
  }
template <class V> void state(V &v, PlainValue &f, PlainValue &t) {
  STATE(CORBA::Long, number) STATE_TEXT(get_text, set_text) STATE(Suit, suit_)
}
template <class V> void state(V &v, Base &f, Base &t) { STATE(CORBA::Short, id) STATE_TEXT(name, name) }
template <class V> void state(V &v, Derived &f, Derived &t) {
  state(v, static_cast<Base &>(f), static_cast<Base &>(t));
  STATE(CORBA::Double, more)
}
template <class V> void state(V &v, Longer &f, Longer &t) {
  state(v, static_cast<Base &>(f), static_cast<Base &>(t));
  STATE(CORBA::LongLong, extra) STATE_VALUE(Base, inner)
}
template <class V> void state(V &v, Longest &f, Longest &t) {
  state(v, static_cast<Longer &>(f), static_cast<Longer &>(t));
  STATE(CORBA::Octet, last) STATE(LongSeq, list)
}
template <class V> void state(V &v, Hidden &f, Hidden &t) {
  state(v, static_cast<Base &>(f), static_cast<Base &>(t));
  STATE_TEXT(secret, secret) STATE_VALUE(Base, inner) STATE(CORBA::Double, end)
}
template <class V> void state(V &, Empty &, Empty &) {}
template <class V> void state(V &v, Node &f, Node &t) {
  STATE_TEXT(name, name) STATE(NodeSeq, others) STATE_VALUE(Node, next)
}
template <class V> void state(V &v, Boxes &f, Boxes &t) {
  STATE_VALUE(LongBox, number_)
  STATE_VALUE(TextBox, text)
  STATE_VALUE(WideBox, wide)
  STATE_VALUE(PointBox, point)
  STATE_VALUE(ListBox, list)
  STATE_VALUE(UnionBox, union_)
  STATE_VALUE(TextBox, again)
}
template <class V> void state(V &v, AccountValue &f, AccountValue &t) {
  CORBA::LongLong b = f.balance();
  v.quiet(b);
  t.set_balance(b);
  STATE_TEXT(owner, owner)
}
template <class V> void state(V &v, Square &f, Square &t) { STATE(CORBA::Double, side) }
template <class V> void state(V &v, Rectangle &f, Rectangle &t) { STATE(CORBA::Double, wide) STATE(CORBA::Double, high) }
template <class V> void state(V &v, Note &f, Note &t) { STATE_TEXT(text, text) }
template <class V> void state(V &v, LongBox &f, LongBox &t) { STATE(CORBA::Long, _value) }
template <class V> void state(V &v, TextBox &f, TextBox &t) { STATE_TEXT(_value, _value) }
template <class V> void state(V &v, WideBox &f, WideBox &t) {
  CORBA::WString_member m((const CORBA::WChar *)f._value());
  visit(v, m);
  if (&f != &t) t._value((const CORBA::WChar *)m);
}
template <class V> void state(V &v, PointBox &f, PointBox &t) { STATE(Point, _value) }
template <class V> void state(V &v, ListBox &f, ListBox &t) {
  auto copy = f._value();
  v.sequence(copy);
  if (&f != &t) t._value(copy);
}
template <class V> void state(V &v, UnionBox &f, UnionBox &t) { STATE(ByLong, _value) }

template <class V> void state_of(V &v, CORBA::ValueBase *f, CORBA::ValueBase *t) {
#define AS(T)                                                                                                          \
  if (auto p = dynamic_cast<T *>(f)) return state(v, *p, dynamic_cast<T &>(*t));
  AS(PlainValue)
  AS(Longest) AS(Longer) AS(Hidden) AS(Derived) AS(Base) // the most derived first
  AS(Empty) AS(Node) AS(Boxes) AS(AccountValue) AS(Square) AS(Rectangle) AS(Note)
  AS(LongBox) AS(TextBox) AS(WideBox) AS(PointBox) AS(ListBox) AS(UnionBox)
#undef AS
  throw CORBA::INTERNAL(1, CORBA::COMPLETED_NO);
}

// ---- twist ------------------------------------------------------------------------

struct Twist {
  std::map<CORBA::ValueBase *, CORBA::ValueBase *> done;

  template <class T> void head(T) {}
  template <class T> void quiet(T &) {}
  template <class T> void bits(T &x) { x = T(~x); }
  template <class T> void real(T &x) { x = -x; }
  void truth(CORBA::Boolean &x) { x = !x; }
  void letter(CORBA::Char &x) { x = other_case(x); }
  template <class S> void text(S &x) {
    std::string t((const char *)x);
    for (char &c : t) c = char(other_case(CORBA::Char(c)));
    x = CORBA::string_dup(t.c_str());
  }
  void wide_letter(CORBA::WChar &x) { x = x < 0x80 ? CORBA::WChar(other_case(CORBA::Char(x))) : x; }
  template <class S> void wide_text(S &x) {
    std::basic_string<CORBA::WChar> t((const CORBA::WChar *)x);
    for (CORBA::WChar &c : t) wide_letter(c);
    x = CORBA::wstring_dup(t.c_str());
  }
  template <class E> void ordinal(E &x, int n) { x = E((int(x) + 1) % n); }
  template <class F> void decimal(F &x, int, int) {
    if (!!x) x = -x;
  }
  template <class T> T *value(CORBA::ValueBase *x) {
    if (!x) return nullptr;
    auto &t = done[x];
    if (!t) {
      t = fresh(x->_NP_repositoryId());
      if (!t) throw CORBA::INTERNAL(2, CORBA::COMPLETED_NO);
      CORBA::ValueBase *made = t;
      state_of(*this, x, made);
      return as<T>(made);
    }
    return as<T>(t);
  }
  template <class S> void sequence(S &x) {
    S old(x);
    CORBA::ULong n = old.length();
    for (CORBA::ULong i = 0; i < n; i++) put(x, i, old, n - 1 - i);
  }
  void sequence(StringSeq &x) { texts(x); }
  void sequence(Plainly::_tags_seq &x) { texts(x); }
  void sequence(PlainSeq &x) { values<Plain>(x); }
  void sequence(NodeSeq &x) { values<Node>(x); }

private:
  template <class T> static T *as(CORBA::ValueBase *v) {
    CORBA::add_ref(v);
    return dynamic_cast<T *>(v);
  }
  template <class S> void put(S &x, CORBA::ULong i, S &old, CORBA::ULong j) {
    x[i] = old[j];
    visit(*this, x[i]);
  }
  template <class S> void texts(S &x) {
    S old(x);
    for (CORBA::ULong n = old.length(), i = 0; i < n; i++) {
      Text t((const char *)old[n - 1 - i]);
      text(t);
      x[i] = (const char *)t;
    }
  }
  template <class T, class S> void values(S &x) {
    S old(x);
    for (CORBA::ULong n = old.length(), i = 0; i < n; i++) x[i] = value<T>((T *)old[n - 1 - i]);
  }
};

// ---- digest -----------------------------------------------------------------------

struct Digest {
  uint64_t h = 0xcbf29ce484222325ull;
  std::map<CORBA::ValueBase *, uint32_t> met;

  void octets(uint64_t x, size_t n) {
    for (size_t i = 0; i < n; i++, x >>= 8) h = (h ^ (x & 0xff)) * 0x100000001b3ull;
  }
  template <class T> void head(T d) {
    if (std::is_enum_v<T>) octets(uint64_t(d), 4);
    else octets(uint64_t(d), sizeof d);
  }
  template <class T> void quiet(T &x) { octets(uint64_t(x), sizeof x); }
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
  // These programs keep strings in ISO 8859-1.
  void chars(const char *s) {
    octets(strlen(s), 4);
    for (; *s; s++) octets(uint8_t(*s), 4);
  }
  template <class S> void text(S &x) { chars(x); }
  void wide_letter(CORBA::WChar &x) { octets(uint64_t(x), 2); }
  void units(const CORBA::WChar *s) {
    uint32_t n = 0;
    while (s[n]) n++;
    octets(n, 4);
    for (; *s; s++) octets(uint64_t(*s), 2);
  }
  template <class S> void wide_text(S &x) { units(x); }
  template <class F> void decimal(F &x, int digits, int scale) {
    CORBA::String_var s = x.NP_asString();
    std::string whole, fraction;
    bool negative = false, point = false;
    for (const char *p = s; *p; p++) {
      if (*p == '-') negative = true;
      else if (*p == '.') point = true;
      else if (*p >= '0' && *p <= '9') (point ? fraction : whole) += *p;
    }
    fraction.resize(scale, '0');
    whole.erase(0, whole.find_first_not_of('0') == std::string::npos ? whole.size() : whole.find_first_not_of('0'));
    std::string all = whole + fraction;
    all.insert(0, digits - all.size(), '0');
    octets(negative ? 1 : 0, 1);
    for (char c : all) octets(c - '0', 1);
  }
  template <class T> T *value(CORBA::ValueBase *x) {
    if (!x) octets(0xffffffff, 4);
    else if (met.count(x)) octets(met[x] + 1, 4);
    else {
      uint32_t number = met.size();
      met[x] = number;
      octets(0, 4);
      chars(x->_NP_repositoryId());
      state_of(*this, x, x);
    }
    return dynamic_cast<T *>(x);
  }
  template <class S> void sequence(S &x) {
    octets(x.length(), 4);
    for (CORBA::ULong i = 0; i < x.length(); i++) visit(*this, x[i]);
  }
  void sequence(StringSeq &x) { texts(x); }
  void sequence(Plainly::_tags_seq &x) { texts(x); }
  void sequence(PlainSeq &x) { values<Plain>(x); }
  void sequence(NodeSeq &x) { values<Node>(x); }

private:
  template <class S> void texts(S &x) {
    octets(x.length(), 4);
    for (CORBA::ULong i = 0; i < x.length(); i++) chars(x[i]);
  }
  template <class T, class S> void values(S &x) {
    octets(x.length(), 4);
    for (CORBA::ULong i = 0; i < x.length(); i++) value<T>((T *)x[i]);
  }
};

template <class T> void twist(T &x) {
  Twist t;
  visit(t, x);
}
// What a value is twisted to; it is the caller's.
template <class T> T *twisted(T *x) {
  Twist t;
  return t.template value<T>(x);
}
inline void add(Digest &d, const char *s) { d.chars(s); }
inline void add(Digest &d, char *s) { d.chars(s); }
inline void add(Digest &d, const CORBA::String_var &s) { d.chars(s); }
template <class T> auto add(Digest &d, T *x) -> std::enable_if_t<std::is_base_of_v<CORBA::ValueBase, T>> {
  d.template value<T>(x);
}
template <class T, class H> void add(Digest &d, const _CORBA_Value_Var<T, H> &x) { d.template value<T>(x.in()); }
template <class T> auto add(Digest &d, const T &x) -> std::enable_if_t<!std::is_pointer_v<T>> {
  visit(d, const_cast<T &>(x)); // Digest only reads
}
template <class... T> CORBA::ULongLong digest(const T &...x) {
  Digest d;
  (add(d, x), ...);
  return d.h;
}

} // namespace rich
