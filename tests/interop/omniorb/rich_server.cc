// omniORB server of rich.idl.
//   rich_server --ior FILE [--unix PATH] [--port N] [-ORB...]
// Writes the reference of its Peer to FILE (FILE.tmp, then a rename) and to standard output once
// it serves calls, and serves until shutdown().
#include "rich_anys.h"
#include "rich_things.h"
#include <set>

using namespace rich;

template <class A, class B> static void verify(CORBA::ULongLong check, const A &a, const B &b, const char *operation) {
  CORBA::ULongLong found = digest(a, b);
  if (found != check) throw Mismatch(operation, check, found);
}

#define ECHO_FIXED(T, op)                                                                                              \
  T op(const T &a, T &b, CORBA::ULongLong check, T &c) override {                                                      \
    verify(check, a, b, #op);                                                                                          \
    T r;                                                                                                               \
    r = a;                                                                                                             \
    twist(r);                                                                                                          \
    c = b;                                                                                                             \
    b = a;                                                                                                             \
    return r;                                                                                                          \
  }
// Assigned rather than copied: see bill_of.
#define ECHO_VARIABLE(T, op)                                                                                           \
  T *op(const T &a, T &b, CORBA::ULongLong check, T##_out c) override {                                                \
    verify(check, a, b, #op);                                                                                          \
    T *r = new T, *was = new T;                                                                                        \
    *r = a;                                                                                                            \
    twist(*r);                                                                                                         \
    *was = b;                                                                                                          \
    c = was;                                                                                                           \
    b = a;                                                                                                             \
    return r;                                                                                                          \
  }
#define ECHO_VALUE(T, op)                                                                                              \
  T *op(T *a, T *&b, CORBA::ULongLong check, T##_out c) override {                                                     \
    verify(check, a, b, #op);                                                                                          \
    c = b;                                                                                                             \
    CORBA::add_ref(a);                                                                                                 \
    b = a;                                                                                                             \
    return twisted(a);                                                                                                 \
  }

class PeerServant : public POA_Rich::Peer {
public:
  // Data
  ECHO_VARIABLE(ByLong, echo_by_long)
  ECHO_VARIABLE(ByShort, echo_by_short)
  ECHO_FIXED(ByUShort, echo_by_ushort)
  ECHO_FIXED(ByULong, echo_by_ulong)
  ECHO_VARIABLE(ByBig, echo_by_big)
  ECHO_VARIABLE(ByLongLong, echo_by_longlong)
  ECHO_FIXED(ByChar, echo_by_char)
  ECHO_VARIABLE(ByBoolean, echo_by_boolean)
  ECHO_FIXED(ByTruth, echo_by_truth)
  ECHO_VARIABLE(BySuit, echo_by_suit)
  ECHO_FIXED(ByOwn, echo_by_own)
  ECHO_VARIABLE(Unions, echo_unions)
  ECHO_VARIABLE(Tree, echo_tree)
  ECHO_VARIABLE(Expr, echo_expr)
  ECHO_VARIABLE(Chain, echo_chain)
  ECHO_VARIABLE(Plainly, echo_plainly)
  ECHO_FIXED(Price, echo_price)
  ECHO_FIXED(Huge, echo_huge)
  ECHO_VARIABLE(Bill, echo_bill)
  Small the_vat() override { return vat; }
  char *in_context(const char *greeting, CORBA::Context_ptr context) override {
    std::set<std::string> all;
    for (const char *pattern : {"user", "zorb.*"}) {
      CORBA::NVList_var found;
      try {
        context->get_values("", 0, pattern, found.out());
      } catch (const CORBA::SystemException &) { // nothing fits
        continue;
      }
      for (CORBA::ULong i = 0; i < found->count(); i++) {
        const char *value = "";
        *found->item(i)->value() >>= value;
        all.insert(std::string(found->item(i)->name()) + "=" + value);
      }
    }
    std::string s = greeting;
    for (const std::string &one : all) s += "," + one;
    return CORBA::string_dup(s.c_str());
  }

  // Values
  ECHO_VALUE(Plain, echo_plain)
  ECHO_VALUE(Base, echo_base)
  ECHO_VALUE(Empty, echo_empty)
  ECHO_VALUE(Node, echo_node)
  ECHO_VARIABLE(NodeSeq, echo_nodes)
  ECHO_VARIABLE(Holder, echo_holder)
  ECHO_VALUE(Boxes, echo_boxes)
  ECHO_VALUE(TextBox, echo_text)
  ECHO_VALUE(ListBox, echo_list)
  ECHO_VALUE(Account, echo_account)
  CORBA::Boolean same(Node *a, Node *b) override { return a == b; }
  Node *make_ring(CORBA::Long n) override { return ring_of(n); }
  char *kind_of(Base *it) override { return CORBA::string_dup(it ? it->_NP_repositoryId() : ""); }
  CORBA::ValueBase *pass_value(CORBA::ValueBase *it, CORBA::String_out kind) override {
    kind = CORBA::string_dup(it ? it->_NP_repositoryId() : "");
    CORBA::add_ref(it);
    return it;
  }
  Base *make_base(CORBA::Boolean hidden) override { return base_of(hidden); }
  Base *truncate(Base *a, Base *b, CORBA::Boolean &one) override {
    one = a == b;
    CORBA::add_ref(b);
    return b;
  }
  CORBA::Double area(Shape *it) override { return it ? it->area() : 0; }
  Shape *make_shape(CORBA::Boolean square, CORBA::Double wide, CORBA::Double high) override {
    return square ? static_cast<Shape *>(new SquareValue(wide)) : new RectangleValue(wide, high);
  }
  Account *deposit(Account *it, CORBA::Long amount, CORBA::LongLong &balance) override {
    balance = it->deposit(amount);
    CORBA::add_ref(it);
    return it;
  }
  Describable_ptr pass(Describable_ptr it, CORBA::String_out described, Describable_out twin) override {
    described = CORBA::string_dup(described_as(it).c_str());
    if (CORBA::is_nil(it)) {
      twin = Describable::_nil();
      return Describable::_nil();
    }
    twin = twin_of(it);
    return Describable::_duplicate(it);
  }
  DescribableSeq *pass_all(const DescribableSeq &all, CORBA::String_out described) override {
    std::string text;
    for (CORBA::ULong i = 0; i < all.length(); i++) text += (i ? "," : "") + described_as(all[i]);
    described = CORBA::string_dup(text.c_str());
    return new DescribableSeq(all);
  }
  Thing_ptr make_thing(const char *name) override { return thing(name); }
  void spoil(CORBA::Long code, const char *why) override {
    Spoilt e;
    e.what = new PlainValue(code, "spoilt", hearts);
    e.why = why;
    e.same = e.what;
    throw e;
  }

  // Anys
  CORBA::Any *make_any(Kind which, CORBA::Long n) override { return new CORBA::Any(make(which, n)); }
  char *check_any(Kind which, CORBA::Long n, const CORBA::Any &it) override {
    return CORBA::string_dup(fault(which, n, it).c_str());
  }
  CORBA::Any *pass_any(const CORBA::Any &a, CORBA::Any &b, CORBA::Any_OUT_arg c) override {
    c = new CORBA::Any(b);
    b = a;
    return new CORBA::Any(a);
  }
  AnySeq *turn_anys(const AnySeq &all) override {
    AnySeq *r = new AnySeq;
    CORBA::ULong n = all.length();
    r->length(n);
    for (CORBA::ULong i = 0; i < n; i++) (*r)[i] = all[n - 1 - i];
    return r;
  }
  CORBA::TypeCode_ptr type_of(Kind which) override { return make(which, 1).type(); }
  char *check_type(Kind which, CORBA::TypeCode_ptr it) override {
    return CORBA::string_dup(type_fault(which, it).c_str());
  }
  CORBA::TypeCode_ptr pass_type(CORBA::TypeCode_ptr a, CORBA::TypeCode_ptr &b, CORBA::TypeCode_OUT_arg c) override {
    c = b;
    b = CORBA::TypeCode::_duplicate(a);
    return CORBA::TypeCode::_duplicate(a);
  }
  Mixed *pass_mixed(const Mixed &a, Mixed &b, Mixed_out c) override {
    c = new Mixed(b);
    b = a;
    return new Mixed(a);
  }

  // Control
  char *orb_name() override { return CORBA::string_dup("omniORB"); }
  void shutdown() override { orb->shutdown(0); }
};

int main(int argc, char **argv) {
  std::string ior = arg(argc, argv, "--ior"), unix_path = arg(argc, argv, "--unix"), port = arg(argc, argv, "--port");
  if (ior.empty()) return fprintf(stderr, "rich_server: --ior FILE is needed\n"), 2;
  std::string endpoint = unix_path.empty() ? "giop:tcp:127.0.0.1:" + port : "giop:unix:" + unix_path;
  const char *opts[][2] = {{"endPoint", endpoint.c_str()}, {0, 0}};
  if (flag(argc, argv, "-ORBendPoint")) opts[0][0] = 0; // else there would be both
  try {
    orb = CORBA::ORB_init(argc, argv, "omniORB4", opts);
    register_factories();
    CORBA::Object_var o = orb->resolve_initial_references("RootPOA");
    root = PortableServer::POA::_narrow(o);
    PortableServer::POAManager_var manager = root->the_POAManager();
    self = (new PeerServant)->_this();
    manager->activate();

    CORBA::String_var s = orb->object_to_string(self);
    std::string tmp = ior + ".tmp";
    FILE *f = fopen(tmp.c_str(), "w");
    if (!f || fprintf(f, "%s\n", s.in()) < 0 || fclose(f) || rename(tmp.c_str(), ior.c_str()))
      return perror(ior.c_str()), 1;
    puts(s.in());
    fflush(stdout);
    try {
      orb->run();
    } catch (const CORBA::BAD_INV_ORDER &) { // a client has called shutdown() already
    }
    orb->destroy();
  } catch (const CORBA::Exception &e) {
    return fprintf(stderr, "rich_server: %s\n", e._name()), 1;
  }
  return 0;
}
