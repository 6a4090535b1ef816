// What is in the anys of rich.idl: what make_any makes, and what check_any looks at.
#pragma once
#include "rich.h"

namespace rich {

inline std::string with_number(const char *text, CORBA::Long n) { return std::string(text) + to_string(n); }
inline Point point_of(CORBA::Long n) {
  Point p;
  p.x = CORBA::Short(n), p.y = n / 2.0;
  return p;
}
inline LongSeq longs_of(CORBA::Long n) {
  LongSeq s;
  s.length(n % 8);
  for (CORBA::ULong i = 0; i < s.length(); i++) s[i] = n + i;
  return s;
}
inline void fill(Cuboid &c, CORBA::Long n) {
  for (auto &block : c)
    for (auto &row : block)
      for (auto &x : row) x = n++;
}
inline std::basic_string<CORBA::WChar> wide_of(CORBA::Long n) {
  std::basic_string<CORBA::WChar> w(1, 0x416);
  for (char c : to_string(n)) w += CORBA::WChar(c);
  return w;
}
inline Price price_of(CORBA::Long n) { return CORBA::Fixed((with_number(n % 2 ? "-" : "", n % 1000) + ".25").c_str()); }
inline Tree tree_of(CORBA::Long n) {
  Tree t;
  t.label = with_number("root ", n).c_str();
  t.kids.length(2);
  t.kids[0].label = "left", t.kids[0].mark = 1;
  t.kids[1].label = "right", t.kids[1].mark = 3;
  t.kids[1].kids.length(1);
  t.kids[1].kids[0].label = "deep", t.kids[1].kids[0].mark = 2;
  t.mark = CORBA::Octet(n);
  return t;
}
inline Expr expr_of(CORBA::Long n) {
  Expr e;
  ExprSeq all(2);
  all.length(2);
  all[0].value(n);
  ExprSeq one;
  one.length(1);
  one[0].value(0.5);
  all[1].one(one);
  e.all(all);
  return e;
}
inline ByLong by_long_of(CORBA::Long n) {
  ByLong u;
  if (n % 3 == 0) u.text(with_number("u ", n).c_str()), u._d(-7);
  else if (n % 3 == 1) u.at(point_of(n));
  else u.other(CORBA::Octet(n)), u._d(5);
  return u;
}
// Not by value: what copies one of omniORB's fixed numbers forgets its digits; assignment does not.
inline Bill *bill_of(CORBA::Long n) {
  Bill *p = new Bill;
  Bill &b = *p;
  b.g0 = 0, b.g1 = 1, b.g2 = 2, b.g3 = 3, b.g4 = 4, b.g5 = 5, b.g6 = 6;
  b.cost = price_of(n), b.little = CORBA::Fixed("1.5"), b.much = CORBA::Fixed((to_string(n) + ".5").c_str());
  b.one = CORBA::Fixed(-7), b.part = CORBA::Fixed("0.125");
  b.more.length(2);
  b.more[0] = CORBA::Fixed(-1), b.more[1] = CORBA::Fixed("2.75");
  return p;
}
inline Plainly plainly_of(CORBA::Long n) {
  Plainly p;
  p.grid.length(3);
  p.grid[0].length(3);
  for (int i = 0; i < 3; i++) p.grid[0][i] = i + 1;
  p.grid[2].length(1);
  p.grid[2][0] = CORBA::Short(n);
  p.tag = "t";
  for (int i = 0; i < 6; i++) p.cube[i / 3][i % 3] = i + 1;
  const CORBA::WChar zhe[] = {0x416, 0};
  p.wide = zhe;
  p.tags.length(2);
  p.tags[0] = "a", p.tags[1] = "bcd";
  fill(p.named, n);
  p.last = 0x55;
  return p;
}
inline Plain *plain_of(CORBA::Long n) { return new PlainValue(n, with_number("p ", n).c_str(), spades); }
inline Base *derived(CORBA::Short id, const char *name, CORBA::Double more) {
  return new OBV_Rich::Derived(id, name, more);
}
inline Longest *longest_of(CORBA::Long n) {
  auto v = new OBV_Rich::Longest;
  v->id(CORBA::Short(n)), v->name(with_number("s ", n).c_str()), v->extra(n), v->inner(nullptr);
  v->last(CORBA::Octet(n)), v->list(longs_of(n));
  return v;
}
inline Node *ring_of(CORBA::Long n) {
  Node *first = nullptr, *last = nullptr;
  for (CORBA::Long i = 0; i < n; i++) {
    Node *node = new OBV_Rich::Node;
    node->name(to_string(i).c_str());
    if (!first) first = node;
    NodeSeq both;
    both.length(2);
    CORBA::add_ref(node), CORBA::add_ref(first);
    both[0] = node, both[1] = first;
    node->others(both);
    if (last) last->next(node);
    last = node;
  }
  if (last) last->next(first);
  return first;
}
inline Holder holder_of(CORBA::Long n) {
  Holder h;
  Plain *p = plain_of(n);
  for (int i = 0; i < 4; i++) CORBA::add_ref(p);
  h.g0 = 8, h.g1 = 9, h.first = p, h.second = p;
  h.maybe.it(p);
  h.many.length(2);
  h.many[0] = p;
  h.at = point_of(n);
  return h;
}

// What make_any gives.
inline CORBA::Any make(Kind which, CORBA::Long n) {
  CORBA::Any a;
  switch (which) {
  case k_null: break;
  case k_void: a.replace(CORBA::_tc_void, nullptr); break;
  case k_short: a <<= CORBA::Short(-n); break;
  case k_long: a <<= CORBA::Long(-CORBA::ULong(n) * 1000); break;
  case k_ushort: a <<= CORBA::UShort(65535 - n); break;
  case k_ulong: a <<= CORBA::ULong(0xffffffffu - n); break;
  case k_float: a <<= CORBA::Float(n + 0.5f); break;
  case k_double: a <<= CORBA::Double(n + 0.25); break;
  case k_boolean: a <<= CORBA::Any::from_boolean(n % 2 != 0); break;
  case k_char: a <<= CORBA::Any::from_char(CORBA::Char('A' + n % 26)); break;
  case k_octet: a <<= CORBA::Any::from_octet(CORBA::Octet(n)); break;
  case k_longlong: a <<= CORBA::LongLong(-CORBA::LongLong(n) * 10000000000); break;
  case k_ulonglong: a <<= CORBA::ULongLong(~CORBA::ULongLong(0) - n); break;
  case k_wchar: a <<= CORBA::Any::from_wchar(CORBA::WChar(0x416 + n % 16)); break;
  case k_string: a <<= with_number("text ", n).c_str(); break;
  case k_wstring: a <<= wide_of(n).c_str(); break;
  case k_bounded:
    a <<= CORBA::Any::from_string((char *)with_number("t ", n).c_str(), 8);
    a.type(_tc_Tag);
    break;
  case k_alias:
    a <<= CORBA::Any::from_string((char *)with_number("a ", n).c_str(), 8);
    a.type(_tc_TagAgain);
    break;
  case k_enum: a <<= Suit(n % 4); break;
  case k_struct: a <<= point_of(n); break;
  case k_union: a <<= by_long_of(n); break;
  case k_union_none: {
    BySuit u;
    u._default();
    u._d(diamonds);
    a <<= u;
    break;
  }
  case k_sequence: a <<= longs_of(n); break;
  case k_sequences: {
    Lists l;
    l.length(n % 4);
    for (CORBA::ULong i = 0; i < l.length(); i++) {
      l[i].length(i + 1);
      for (CORBA::ULong k = 0; k <= i; k++) l[i][k] = n;
    }
    a <<= l;
    break;
  }
  case k_strings: {
    StringSeq s;
    s.length(3);
    s[0] = with_number("s ", n).c_str(), s[1] = "", s[2] = "\xe9";
    a <<= s;
    break;
  }
  case k_array: {
    Row r = {n, n + 1, n + 2};
    a <<= Row_forany(r);
    break;
  }
  case k_arrays: {
    Cuboid c;
    fill(c, n);
    a <<= Cuboid_forany(c);
    break;
  }
  case k_fixed: {
    Price p = price_of(n);
    a <<= CORBA::Any::from_fixed(p, 5, 2);
    a.type(_tc_Price);
    break;
  }
  case k_tree: a <<= tree_of(n); break;
  case k_expr: a <<= expr_of(n); break;
  case k_exception: {
    Detailed d;
    d.code = n, d.text = with_number("e ", n).c_str(), d.where = point_of(n);
    a <<= d;
    break;
  }
  case k_object: a <<= Peer_ptr(self.in()); break;
  case k_nil: a <<= Quiet::_nil(); break;
  case k_any: {
    CORBA::Any inner;
    inner <<= make(k_struct, n);
    a <<= inner;
    break;
  }
  case k_anys: {
    AnySeq all;
    all.length(4);
    Kind kinds[] = {k_long, k_string, k_null, k_sequence};
    for (int i = 0; i < 4; i++) all[i] = make(kinds[i], n);
    a <<= all;
    break;
  }
  case k_typecode: a <<= _tc_Tree; break;
  case k_mixed: {
    Mixed m;
    m.mark = CORBA::Octet(n), m.inner = make(k_union, n), m.kind = CORBA::TypeCode::_duplicate(_tc_Expr), m.end = n / 4.0;
    a <<= m;
    break;
  }
  case k_bill: a <<= bill_of(n); break;
  case k_plain: a <<= plain_of(n); break;
  case k_base: a <<= derived(CORBA::Short(n), with_number("d ", n).c_str(), n / 8.0); break;
  case k_longest: a <<= longest_of(n); break;
  case k_null_value: a <<= (Plain *)nullptr; break;
  case k_ring: a <<= ring_of(n % 4 + 1); break;
  case k_text_box: a <<= new TextBox(with_number("b ", n).c_str()); break;
  case k_list_box: {
    ListBox *b = new ListBox;
    b->length(n % 8);
    for (CORBA::ULong i = 0; i < b->length(); i++) (*b)[i] = n + i;
    a <<= b;
    break;
  }
  case k_holder: a <<= holder_of(n); break;
  case k_bounded_wide:
    a <<= CORBA::Any::from_wstring((CORBA::WChar *)wide_of(n).c_str(), 8);
    a.type(_tc_WTag);
    break;
  case k_plainly: a <<= plainly_of(n); break;
  }
  return a;
}

inline bool take(Kind which, const CORBA::Any &a, Digest &d);

inline bool take_mixed(const Mixed &m, Digest &d) {
  CORBA::TypeCode_ptr kind = m.kind;
  if (!kind->equal(_tc_Expr)) return false;
  add(d, m.mark), add(d, m.end);
  return take(k_union, m.inner, d);
}

// Takes the value out as the type that it is; false if it is another one.
inline bool take(Kind which, const CORBA::Any &a, Digest &d) {
#define TAKE(T)                                                                                                        \
  {                                                                                                                    \
    T x;                                                                                                               \
    if (!(a >>= x)) return false;                                                                                      \
    add(d, x);                                                                                                         \
    return true;                                                                                                       \
  }
#define TAKE_AS(T, X)                                                                                                  \
  {                                                                                                                    \
    T x;                                                                                                               \
    if (!(a >>= X)) return false;                                                                                      \
    add(d, x);                                                                                                         \
    return true;                                                                                                       \
  }
#define TAKE_BIG(T)                                                                                                    \
  {                                                                                                                    \
    const T *x;                                                                                                        \
    if (!(a >>= x)) return false;                                                                                      \
    add(d, *x);                                                                                                        \
    return true;                                                                                                       \
  }
  switch (which) {
  case k_null:
  case k_void: {
    CORBA::TypeCode_var t = a.type();
    return t->kind() == (which == k_null ? CORBA::tk_null : CORBA::tk_void);
  }
  case k_short: TAKE(CORBA::Short)
  case k_long: TAKE(CORBA::Long)
  case k_ushort: TAKE(CORBA::UShort)
  case k_ulong: TAKE(CORBA::ULong)
  case k_float: TAKE(CORBA::Float)
  case k_double: TAKE(CORBA::Double)
  case k_boolean: TAKE_AS(CORBA::Boolean, CORBA::Any::to_boolean(x))
  case k_char: TAKE_AS(CORBA::Char, CORBA::Any::to_char(x))
  case k_octet: TAKE_AS(CORBA::Octet, CORBA::Any::to_octet(x))
  case k_longlong: TAKE(CORBA::LongLong)
  case k_ulonglong: TAKE(CORBA::ULongLong)
  case k_wchar: TAKE_AS(CORBA::WChar, CORBA::Any::to_wchar(x))
  case k_string: TAKE(const char *)
  case k_wstring: {
    const CORBA::WChar *x;
    if (!(a >>= x)) return false;
    d.units(x);
    return true;
  }
  case k_bounded:
  case k_alias: {
    const char *x;
    if (!(a >>= CORBA::Any::to_string(x, 8))) return false;
    d.chars(x);
    return true;
  }
  case k_bounded_wide: {
    const CORBA::WChar *x;
    if (!(a >>= CORBA::Any::to_wstring(x, 8))) return false;
    d.units(x);
    return true;
  }
  case k_enum: TAKE(Suit)
  case k_struct: TAKE_BIG(Point)
  case k_union: TAKE_BIG(ByLong)
  case k_union_none: TAKE_BIG(BySuit)
  case k_sequence: TAKE_BIG(LongSeq)
  case k_sequences: TAKE_BIG(Lists)
  case k_strings: TAKE_BIG(StringSeq)
  case k_array: {
    Row_forany x;
    if (!(a >>= x)) return false;
    for (int i = 0; i < 3; i++) add(d, x[i]);
    return true;
  }
  case k_arrays: {
    Cuboid_forany x;
    if (!(a >>= x)) return false;
    for (int i = 0; i < 2; i++) visit(d, x[i]);
    return true;
  }
  case k_fixed: {
    Price x;
    if (!(a >>= CORBA::Any::to_fixed(x, 5, 2))) return false;
    add(d, x);
    return true;
  }
  case k_tree: TAKE_BIG(Tree)
  case k_expr: TAKE_BIG(Expr)
  case k_exception: TAKE_BIG(Detailed)
  case k_object: {
    Peer_ptr x;
    if (!(a >>= x)) return false;
    return !CORBA::is_nil(x) && x->_is_equivalent(self);
  }
  case k_nil: {
    Quiet_ptr x;
    return (a >>= x) && CORBA::is_nil(x);
  }
  case k_any: {
    const CORBA::Any *x, *y;
    return (a >>= x) && (*x >>= y) && take(k_struct, *y, d);
  }
  case k_anys: {
    const AnySeq *x;
    if (!(a >>= x) || x->length() != 4) return false;
    return take(k_long, (*x)[0], d) && take(k_string, (*x)[1], d) && take(k_null, (*x)[2], d) &&
           take(k_sequence, (*x)[3], d);
  }
  case k_typecode: {
    CORBA::TypeCode_ptr x;
    return (a >>= x) && x->equal(_tc_Tree);
  }
  case k_mixed: {
    const Mixed *x;
    return (a >>= x) && take_mixed(*x, d);
  }
  case k_bill: TAKE_BIG(Bill)
  case k_null_value:
  case k_plain: TAKE(Plain *)
  case k_base: TAKE(Base *)
  case k_longest: TAKE(Longest *)
  case k_ring: TAKE(Node *)
  case k_text_box: TAKE(TextBox *)
  case k_list_box: TAKE(ListBox *)
  case k_holder: TAKE_BIG(Holder)
  case k_plainly: TAKE_BIG(Plainly)
  }
  return false;
}

// What check_type says.
inline std::string type_fault(Kind which, CORBA::TypeCode_ptr it) {
  CORBA::Any a = make(which, 1);
  CORBA::TypeCode_var t = a.type();
  if (it->equal(t)) return "";
  // omniORB has the visibilities of value types the other way round.
  bool with_values = k_plain <= which && which <= k_holder;
  if (with_values && it->equivalent(t)) return "";
  return it->equivalent(t) ? "the TypeCode is equivalent only" : with_number("another TypeCode, kind ", it->kind());
}
// What check_any says.
inline std::string fault(Kind which, CORBA::Long n, const CORBA::Any &it) {
  CORBA::TypeCode_var t = it.type();
  std::string wrong = type_fault(which, t);
  if (!wrong.empty()) return wrong;
  Digest expected, found;
  // What is put in as nil or null can only be taken out of an any that has been sent.
  if (which == k_null_value) add(expected, (Plain *)nullptr);
  else if (which != k_nil && !take(which, make(which, n), expected)) return "the sample cannot be taken out either";
  if (!take(which, it, found)) return "it is not taken out as its type";
  return expected.h == found.h ? "" : "another value";
}

} // namespace rich
