// omniORB server of interop.idl.
//   server --ior FILE [--unix PATH] [--port N] [-ORB...]
// Writes the reference of its Peer to FILE (FILE.tmp, then a rename) and to standard output once
// it serves calls, and serves until shutdown(). The Peer also has the plain key "Interop":
// corbaloc::127.0.0.1:PORT/Interop.
#include "contexts.h"
#include "nodes.h"
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <unistd.h>

using namespace rules;

static CORBA::ORB_var orb;
static PortableServer::POA_var root;
static std::atomic<CORBA::ULong> forwards_made{0};
static const std::chrono::seconds patience(20);

static char *dup(const std::string &s) { return CORBA::string_dup(s.c_str()); }
static CORBA::WChar *dup(const WideString &s) { return CORBA::wstring_dup(s.c_str()); }

// ---- forwards -----------------------------------------------------------------------

// A node that sends everybody away for good. Only a servant can: from a servant manager omniORB
// takes LOCATION_FORWARD as the forwarding of the manager itself.
class Moved : public virtual POA_Interop::Node {
public:
  explicit Moved(Node_ptr to) : to_(Interop::Node::_duplicate(to)) {}
  char *name() override { throw away(); }
  CORBA::ULong bounced() override { throw away(); }
  CORBA::Long bounce(CORBA::Long, Node_ptr) override { throw away(); }

private:
  omniORB::LOCATION_FORWARD away() {
    forwards_made++;
    return omniORB::LOCATION_FORWARD(Interop::Node::_duplicate(to_), 1);
  }
  Node_var to_;
};

// Object ids of the forwarding adapter: "hop:N" (N > 0) leads to "hop:N-1", "hop:0" being the
// server's own node; "loop:a" and "loop:b" to each other; "nowhere" to a node that is gone.
class Forwarder : public POA_PortableServer::ServantLocator {
public:
  void start(PortableServer::POA_ptr poa, Node_ptr own, Node_ptr gone) {
    poa_ = PortableServer::POA::_duplicate(poa);
    own_ = Node::_duplicate(own);
    gone_ = Node::_duplicate(gone);
  }
  Node_ptr reference(const std::string &id) {
    if (id == "hop:0") return Node::_duplicate(own_);
    PortableServer::ObjectId_var oid = PortableServer::string_to_ObjectId(id.c_str());
    CORBA::Object_var o = poa_->create_reference_with_id(oid, Node::_PD_repoId);
    return Node::_narrow(o);
  }
  PortableServer::Servant preinvoke(const PortableServer::ObjectId &oid, PortableServer::POA_ptr, const char *,
                                    void *&) override {
    CORBA::String_var text = PortableServer::ObjectId_to_string(oid);
    std::string id = text.in();
    Node_var to;
    if (id.compare(0, 4, "hop:") == 0) to = reference("hop:" + std::to_string(atoi(id.c_str() + 4) - 1));
    else if (id == "loop:a") to = reference("loop:b");
    else if (id == "loop:b") to = reference("loop:a");
    else if (id == "nowhere") to = Node::_duplicate(gone_);
    else throw CORBA::OBJECT_NOT_EXIST(0, CORBA::COMPLETED_NO);
    forwards_made++;
    throw PortableServer::ForwardRequest(to);
  }
  void postinvoke(const PortableServer::ObjectId &, PortableServer::POA_ptr, const char *, void *,
                  PortableServer::Servant) override {}

private:
  PortableServer::POA_var poa_;
  Node_var own_, gone_;
};
static Forwarder *forwarder_servant;
static Node_var moved;

// ---- the peer -----------------------------------------------------------------------

template <class A, class B> static void verify(CORBA::ULongLong check, const A &a, const B &b, const char *operation) {
  CORBA::ULongLong found = digest(a, b);
  if (found != check) throw Mismatch(operation, check, found);
}

#define ECHO_PLAIN(T, in, op)                                                                                          \
  T op(in a, T &b, CORBA::ULongLong check, T &c) override {                                                            \
    verify(check, a, b, #op);                                                                                          \
    T r = a;                                                                                                           \
    twist(r);                                                                                                          \
    c = b;                                                                                                             \
    b = a;                                                                                                             \
    return r;                                                                                                          \
  }
#define ECHO_BASIC(T, op) ECHO_PLAIN(T, T, op)
#define ECHO_FIXED(T, op) ECHO_PLAIN(T, const T &, op)
#define ECHO_STRING(out, op)                                                                                           \
  char *op(const char *a, char *&b, CORBA::ULongLong check, out c) override {                                          \
    verify(check, a, b, #op);                                                                                          \
    c = CORBA::string_dup(b);                                                                                          \
    CORBA::string_free(b);                                                                                             \
    b = CORBA::string_dup(a);                                                                                          \
    return dup(twisted(a));                                                                                            \
  }
#define ECHO_VARIABLE(T, op)                                                                                           \
  T *op(const T &a, T &b, CORBA::ULongLong check, T##_out c) override {                                                \
    verify(check, a, b, #op);                                                                                          \
    T *r = new T(a);                                                                                                   \
    twist(*r);                                                                                                         \
    c = new T(b);                                                                                                      \
    b = a;                                                                                                             \
    return r;                                                                                                          \
  }
#define ECHO_FIXED_ARRAY(T, op)                                                                                        \
  T##_slice *op(const T a, T b, CORBA::ULongLong check, T c) override {                                                \
    verify(check, *(const T *)a, *(const T *)b, #op);                                                                  \
    T##_slice *r = T##_dup(a);                                                                                         \
    twist(*(T *)r);                                                                                                    \
    T##_copy(c, b);                                                                                                    \
    T##_copy(b, a);                                                                                                    \
    return r;                                                                                                          \
  }
#define ECHO_VARIABLE_ARRAY(T, op)                                                                                     \
  T##_slice *op(const T a, T b, CORBA::ULongLong check, T##_out c) override {                                          \
    verify(check, *(const T *)a, *(const T *)b, #op);                                                                  \
    T##_slice *r = T##_dup(a);                                                                                         \
    twist(*(T *)r);                                                                                                    \
    c = T##_dup(b);                                                                                                    \
    T##_copy(b, a);                                                                                                    \
    return r;                                                                                                          \
  }

class PeerServant : public POA_Interop::Peer {
public:
  // Basics
  ECHO_BASIC(CORBA::Short, echo_short)
  ECHO_BASIC(CORBA::UShort, echo_ushort)
  ECHO_BASIC(CORBA::Long, echo_long)
  ECHO_BASIC(CORBA::ULong, echo_ulong)
  ECHO_BASIC(CORBA::LongLong, echo_longlong)
  ECHO_BASIC(CORBA::ULongLong, echo_ulonglong)
  ECHO_BASIC(CORBA::Float, echo_float)
  ECHO_BASIC(CORBA::Double, echo_double)
  ECHO_BASIC(CORBA::Boolean, echo_boolean)
  ECHO_BASIC(CORBA::Octet, echo_octet)
  CORBA::Char echo_char(CORBA::Char a, CORBA::Char &b, CORBA::ULongLong check, CORBA::Char &c) override {
    verify(check, a, b, "echo_char");
    c = b;
    b = a;
    return other_case(a);
  }
  CORBA::UShort mixed(CORBA::Octet a, CORBA::Double b, CORBA::Char c, CORBA::LongLong d, CORBA::Boolean e,
                      CORBA::Short f, CORBA::Octet &g, CORBA::Double &h, CORBA::ULongLong check, CORBA::Octet &i,
                      CORBA::LongLong &j, CORBA::Boolean &k, CORBA::Float &l, CORBA::Char &m) override {
    CORBA::ULongLong found = digest(a, b, c, d, e, f, g, h);
    if (found != check) throw Mismatch("mixed", check, found);
    i = g, j = ~d, k = !e, l = CORBA::Float(h), m = other_case(c);
    g = a ^ 0xff, h = -b;
    return CORBA::UShort(~f);
  }
  void nothing() override {}
  void only_out(CORBA::Octet &one, CORBA::Double &two, CORBA::String_out three) override {
    one = 1, two = 2.0, three = dup("three");
  }
  CORBA::ULongLong constants() override { return digest_of_constants(); }

  // Texts
  ECHO_STRING(CORBA::String_out, echo_string)
  ECHO_STRING(Tag_out, echo_tag)
  char *join(const char *a, const char *b) override { return dup(std::string(a) + b); }
  char *make_string(CORBA::ULong n) override { return dup(std::string(n, 'x')); }

  // WideTexts
  CORBA::WChar echo_wchar(CORBA::WChar a, CORBA::WChar &b, CORBA::ULongLong check, CORBA::WChar &c) override {
    verify(check, a, b, "echo_wchar");
    c = b;
    b = a;
    return other_case_wide(a);
  }
  CORBA::WChar *echo_wstring(const CORBA::WChar *a, CORBA::WChar *&b, CORBA::ULongLong check,
                             CORBA::WString_out c) override {
    verify(check, a, b, "echo_wstring");
    c = CORBA::wstring_dup(b);
    CORBA::wstring_free(b);
    b = CORBA::wstring_dup(a);
    return dup(twisted(a));
  }
  ECHO_VARIABLE(WCharSeq, echo_wchars)
  ECHO_VARIABLE(WStringSeq, echo_wstrings)
  ECHO_VARIABLE(WideBundle, echo_wide)
  CORBA::WChar *twist_wtag(const CORBA::WChar *a) override { return dup(twisted(a)); }
  CORBA::WChar *widen(const char *a) override { return dup(widened(a)); }
  char *narrow(const CORBA::WChar *a) override { return dup(narrowed(a)); }
  CORBA::WChar *make_wstring(CORBA::ULong n) override { return dup(WideString(n, 0x416)); }

  // Values
  ECHO_BASIC(Suit, echo_suit)
  ECHO_FIXED(Shapes::Point, echo_point)
  ECHO_FIXED(Odd, echo_odd)
  ECHO_FIXED(Inner, echo_inner)
  ECHO_VARIABLE(Outer, echo_outer)
  ECHO_VARIABLE(Bundle, echo_bundle)

  // Sequences
  ECHO_VARIABLE(OctetSeq, echo_octets)
  ECHO_VARIABLE(BooleanSeq, echo_booleans)
  ECHO_VARIABLE(LongSeq, echo_longs)
  ECHO_VARIABLE(DoubleSeq, echo_doubles)
  ECHO_VARIABLE(StringSeq, echo_strings)
  ECHO_VARIABLE(TagSeq, echo_tags)
  ECHO_VARIABLE(SuitSeq, echo_suits)
  ECHO_VARIABLE(OddSeq, echo_odds)
  ECHO_VARIABLE(InnerSeq, echo_inners)
  ECHO_VARIABLE(OuterSeq, echo_outers)
  ECHO_VARIABLE(PairSeq, echo_pairs)
  ECHO_VARIABLE(Shapes::Path, echo_path)
  ECHO_VARIABLE(Shapes::Corners, echo_corners)
  ECHO_VARIABLE(LongSeqSeq, echo_matrix)
  ECHO_VARIABLE(ShortCube, echo_deep)
  ECHO_VARIABLE(ShortList, echo_list)
  ECHO_VARIABLE(TwoTags, echo_two_tags)
  ECHO_VARIABLE(TwoLists, echo_lists)
  OctetSeq *make_octets(CORBA::ULong n) override {
    OctetSeq_var v = new OctetSeq;
    v->length(n);
    for (CORBA::ULong i = 0; i < n; i++) v[i] = CORBA::Octet(i * 7 + i / 256);
    return v._retn();
  }
  CORBA::ULongLong take_octets(const OctetSeq &a) override { return digest(a); }

  // Arrays
  ECHO_FIXED_ARRAY(Cube, echo_cube)
  ECHO_VARIABLE_ARRAY(Names, echo_names)
  ECHO_FIXED_ARRAY(OddPair, echo_oddpair)
  ECHO_FIXED_ARRAY(InnerPair, echo_pair)
  ECHO_VARIABLE_ARRAY(Paths, echo_paths)
  ECHO_FIXED_ARRAY(Rows, echo_rows)

  // Attributes
  CORBA::Long number() override { return get(number_); }
  void number(CORBA::Long v) override { set(number_, v); }
  char *title() override { return dup(get(title_)); }
  void title(const char *v) override { set(title_, std::string(v)); }
  CORBA::Boolean ready() override { return get(ready_); }
  void ready(CORBA::Boolean v) override { set(ready_, v); }
  LongSeq *list() override { return new LongSeq(get(list_)); }
  void list(const LongSeq &v) override { set(list_, v); }
  Shapes::Point where() override { return get(where_); }
  void where(const Shapes::Point &v) override { set(where_, v); }
  Node_ptr companion() override { return get(companion_)._retn(); }
  void companion(Node_ptr v) override { set(companion_, Node_var(Node::_duplicate(v))); }
  CORBA::ULong revision() override { return get(revision_); }

  // Failures
  CORBA::Long fail(FailKind kind, CORBA::Long code, const char *text) override {
    switch (kind) {
    case fail_empty: throw Empty();
    case fail_detailed: {
      Detailed e;
      e.level = CORBA::Octet(code);
      e.code = CORBA::LongLong(code) * -1000003;
      e.text = dup(twisted(text));
      e.where.x = CORBA::Short(code), e.where.y = code / 2.0;
      e.trail.length(3);
      for (int i = 0; i < 3; i++) e.trail[i] = code + i;
      e.suit_ = Suit(code % 4);
      e.last = 1;
      throw e;
    }
    case fail_broken: throw Shapes::Broken(text, Shapes::Colour(code % 4));
    case fail_refused: {
      Node_var by = own_node();
      throw Refused(text, by);
    }
    default: return ~code;
    }
  }
  void fail_system(const char *name, CORBA::ULong minor, Completion completed) override {
#define THROW_IT(E)                                                                                                    \
  if (!strcmp(name, #E)) throw CORBA::E(minor, CORBA::CompletionStatus(completed));
    OMNIORB_FOR_EACH_SYS_EXCEPTION(THROW_IT)
    throw CORBA::BAD_PARAM(1, CORBA::COMPLETED_NO);
  }
  void fail_undeclared() override { throw NoSuchKind("not in the raises expression"); }

  // Oneways
  void note(CORBA::Long id, const char *text) override { noted(digest(id, text)); }
  void note_octets(const OctetSeq &data) override { noted(digest(data)); }
  CORBA::ULongLong notes(CORBA::ULong count) override {
    std::unique_lock<std::mutex> l(mutex_);
    if (!changed_.wait_for(l, patience, [&] { return notes_ >= count; }))
      throw CORBA::TIMEOUT(0, CORBA::COMPLETED_NO);
    CORBA::ULongLong t = note_total_;
    note_total_ = notes_ = 0;
    return t;
  }

  // References
  Node_ptr own_node() override { return forwarder_servant->reference("hop:0"); }
  Node_ptr make_node(const char *name, CORBA::Boolean loud) override {
    return loud ? Node_ptr(host(new LoudNodeServant(name))) : host(new NodeServant(name));
  }
  void destroy_node(Node_ptr victim) override {
    PortableServer::ObjectId_var id = root->reference_to_id(victim);
    root->deactivate_object(id);
  }
  Node_ptr pass_node(Node_ptr a, Node_ptr &b, Node_out c, CORBA::String_out names) override {
    names = dup(name_of(a) + "," + name_of(b));
    c = b;
    b = Node::_duplicate(a);
    return own_node();
  }
  NodeSeq *turn(const NodeSeq &list, CORBA::String_out names) override {
    std::string all;
    NodeSeq_var r = new NodeSeq;
    CORBA::ULong n = list.length();
    r->length(n);
    for (CORBA::ULong i = 0; i < n; i++) {
      all += (i ? "," : "") + name_of(list[i]);
      r[i] = Node::_duplicate(list[(i + 1) % n]);
    }
    names = dup(all);
    return r._retn();
  }
  NamedNode *pass_named(const NamedNode &a, NamedNode &b, NamedNode_out c) override {
    NamedNode_var r = new NamedNode;
    r->pad = a.pad ^ 0xff;
    r->ref_ = b.ref_;
    r->label = dup(name_of(a.ref_) + ":" + a.label.in());
    c = new NamedNode(b);
    b = a;
    return r._retn();
  }
  CORBA::Object_ptr pass_object(CORBA::Object_ptr a, CORBA::Object_ptr &b, CORBA::Object_out c,
                                CORBA::String_out kinds) override {
    kinds = dup(kind_of(a) + "," + kind_of(b));
    c = b;
    b = CORBA::Object::_duplicate(a);
    return CORBA::Object::_nil();
  }
  char *shout_at(Node_ptr who, const char *text) override {
    LoudNode_var loud = LoudNode::_narrow(who);
    return CORBA::is_nil(loud) ? dup("quiet") : loud->shout(text);
  }
  CORBA::Long ring(Node_ptr back, CORBA::Long depth) override {
    Node_var own = own_node();
    return 1 + back->bounce(depth, own);
  }
  void keep(Node_ptr it) override {
    std::lock_guard<std::mutex> l(mutex_);
    kept_ = Node::_duplicate(it);
  }
  char *call_kept() override { return dup(name_of(get(kept_))); }

  // Families
  Base_ptr make_family(const char *kind) override { return rules::make_family(kind); }
  char *walk(Base_ptr who) override { return dup(rules::walk(who)); }

  // Words
  CORBA::Long use() override { return get(use_); }
  void use(CORBA::Long v) override {
    std::lock_guard<std::mutex> l(mutex_);
    use_ = v;
  }
  CORBA::Short attribute() override { return 77; }
  CORBA::Long type(CORBA::Long match, CORBA::Long &ref, CORBA::Long &mod) override {
    mod = ref, ref = match;
    return ~match;
  }
  char *match(const char *where, const char *self) override { return dup(std::string(where) + "/" + self); }
  CORBA::Long interface(CORBA::Long in, CORBA::Long &out) override {
    out = in;
    return ~in;
  }
  loop *move(const loop &impl) override {
    loop *r = new loop(impl);
    twist(*r);
    return r;
  }
  let async(let await) override {
    twist(await);
    return await;
  }
  CORBA::Long _cxx_for(CORBA::Long _cxx_while, CORBA::Long _cxx_if) override {
    if (_cxx_while == _cxx_if) throw Interop::unsafe(_cxx_while, "equal");
    return _cxx_while - _cxx_if;
  }
  CORBA::Octet _cxx_union(CORBA::Octet any) override { return any ^ 0xff; }
  CORBA::Boolean clone(CORBA::Boolean Box) override { return !Box; }
  CORBA::Long drop(CORBA::Long self, CORBA::Long trait, CORBA::Long become, CORBA::Long yield) override {
    return self - trait + become - yield;
  }

  // Gates
  CORBA::Boolean wait(const char *name) override {
    std::unique_lock<std::mutex> l(mutex_);
    Gate &g = gates_[name];
    unsigned mine = g.opened;
    g.waiting++;
    changed_.notify_all();
    bool let_go = changed_.wait_for(l, patience, [&] { return g.opened != mine; });
    if (!let_go) g.waiting--;
    return let_go;
  }
  CORBA::ULong open(const char *name, CORBA::ULong callers) override {
    std::unique_lock<std::mutex> l(mutex_);
    Gate &g = gates_[name];
    if (!changed_.wait_for(l, patience, [&] { return g.waiting >= callers; }))
      throw CORBA::TIMEOUT(0, CORBA::COMPLETED_NO);
    CORBA::ULong n = g.waiting;
    g.waiting = 0;
    g.opened++;
    changed_.notify_all();
    return n;
  }
  CORBA::ULong waiting(const char *name) override {
    std::lock_guard<std::mutex> l(mutex_);
    return gates_[name].waiting;
  }

  // Forwards
  Node_ptr forwarder(CORBA::ULong hops) override {
    return forwarder_servant->reference("hop:" + std::to_string(hops));
  }
  Node_ptr forwarder_for_good() override { return Node::_duplicate(moved); }
  Node_ptr forward_loop() override { return forwarder_servant->reference("loop:a"); }
  Node_ptr forward_to_nowhere() override { return forwarder_servant->reference("nowhere"); }
  CORBA::ULong forwarded() override { return forwards_made; }

  // Control
  char *orb_name() override { return dup("omniORB"); }
  void die() override { _exit(0); }
  void shutdown() override { orb->shutdown(0); }

private:
  struct Gate {
    CORBA::ULong waiting = 0;
    unsigned opened = 0;
  };

  template <class T> T get(T &member) {
    std::lock_guard<std::mutex> l(mutex_);
    return member;
  }
  template <class T> void set(T &member, const T &value) {
    std::lock_guard<std::mutex> l(mutex_);
    member = value;
    revision_++;
  }
  void noted(CORBA::ULongLong d) {
    std::lock_guard<std::mutex> l(mutex_);
    note_total_ += d;
    notes_++;
    changed_.notify_all();
  }
  static std::string kind_of(CORBA::Object_ptr o) {
    if (CORBA::is_nil(o)) return "nil";
    if (!CORBA::is_nil(Interop::Peer_var(Interop::Peer::_narrow(o)))) return "Peer";
    if (!CORBA::is_nil(LoudNode_var(LoudNode::_narrow(o)))) return "LoudNode";
    if (!CORBA::is_nil(Node_var(Node::_narrow(o)))) return "Node";
    return "other";
  }

  std::mutex mutex_; // guards all below; never held during a call to somebody else
  std::condition_variable changed_;
  CORBA::Long number_ = 0, use_ = 0;
  std::string title_;
  CORBA::Boolean ready_ = false;
  LongSeq list_;
  Shapes::Point where_ = {0, 0.0};
  Node_var companion_, kept_;
  CORBA::ULong revision_ = 0, notes_ = 0;
  CORBA::ULongLong note_total_ = 0;
  std::map<std::string, Gate> gates_;
};

// All of its objects are the Forwarder's to answer for.
static PortableServer::POA_var forwarding_adapter(PortableServer::POAManager_ptr manager) {
  CORBA::PolicyList p;
  p.length(3);
  p[0] = root->create_id_assignment_policy(PortableServer::USER_ID);
  p[1] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
  p[2] = root->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
  return root->create_POA("forwards", manager, p);
}

int main(int argc, char **argv) {
  std::string ior = arg(argc, argv, "--ior"), unix_path = arg(argc, argv, "--unix"), port = arg(argc, argv, "--port");
  if (ior.empty()) return fprintf(stderr, "server: --ior FILE is needed\n"), 2;
  set_native(arg(argc, argv, "-ORBnativeCharCodeSet"));

  std::string endpoint = unix_path.empty() ? "giop:tcp:127.0.0.1:" + port : "giop:unix:" + unix_path;
  const char *opts[][2] = {{"endPoint", endpoint.c_str()}, {0, 0}};
  if (flag(argc, argv, "-ORBendPoint")) opts[0][0] = 0; // else there would be both
  try {
    orb = CORBA::ORB_init(argc, argv, "omniORB4", opts);
    if (flag(argc, argv, "--contexts")) contexts::begin();
    CORBA::Object_var o = orb->resolve_initial_references("RootPOA");
    root = PortableServer::POA::_narrow(o);
    PortableServer::POAManager_var manager = root->the_POAManager();
    if (flag(argc, argv, "--both-ways")) make_both_ways(root, manager);

    Node_var own = host_node(new NodeServant("home")), gone = host(new NodeServant("gone"));
    PortableServer::ObjectId_var gone_id = root->reference_to_id(gone);
    root->deactivate_object(gone_id);

    PortableServer::POA_var forwards = forwarding_adapter(manager);
    forwarder_servant = new Forwarder;
    PortableServer::ServantManager_var locator = host(forwarder_servant);
    forwards->set_servant_manager(locator);
    forwarder_servant->start(forwards, own, gone);
    moved = host(new Moved(own));

    PeerServant *peer = new PeerServant;
    Interop::Peer_var ref;
    if (CORBA::is_nil(both_ways)) {
      ref = host(peer);
    } else {
      o = host_both_ways(peer);
      ref = Interop::Peer::_narrow(o);
    }
    o = orb->resolve_initial_references("omniINSPOA");
    PortableServer::POA_var plain = PortableServer::POA::_narrow(o);
    PortableServer::ObjectId_var key = PortableServer::string_to_ObjectId("Interop");
    plain->activate_object_with_id(key, peer);
    PortableServer::POAManager_var plain_manager = plain->the_POAManager();
    plain_manager->activate();
    manager->activate();

    CORBA::String_var s = orb->object_to_string(ref);
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
    return fprintf(stderr, "server: %s\n", e._name()), 1;
  }
  return 0;
}
