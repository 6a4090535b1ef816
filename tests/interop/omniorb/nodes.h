// The small objects that both programs host: nodes and the inheritance family.
#pragma once
#include "rules.h"
#include <atomic>

namespace rules {

inline std::string name_of(Node_ptr n) {
  if (CORBA::is_nil(n)) return "-";
  CORBA::String_var s = n->name();
  return s.in();
}

class NodeServant : public virtual POA_Interop::Node {
public:
  explicit NodeServant(std::string n) : name_(std::move(n)) {}
  char *name() override { return CORBA::string_dup(name_.c_str()); }
  CORBA::ULong bounced() override { return count_; }
  CORBA::Long bounce(CORBA::Long depth, Node_ptr back) override {
    count_++;
    if (depth <= 0) return 0;
    if (CORBA::is_nil(back)) throw CORBA::BAD_PARAM(7, CORBA::COMPLETED_NO);
    Node_var self = _this();
    return 1 + back->bounce(depth - 1, self);
  }

private:
  std::string name_;
  std::atomic<CORBA::ULong> count_{0};
};

class LoudNodeServant : public virtual POA_Interop::LoudNode, public virtual NodeServant {
public:
  explicit LoudNodeServant(std::string n) : NodeServant(std::move(n)) {}
  char *shout(const char *text) override { return CORBA::string_dup((twisted(text) + "!").c_str()); }
};

// One template serves the whole family: each level adds its operations to the one below.
template <class Skeleton> class BaseLevel : public virtual Skeleton {
public:
  explicit BaseLevel(std::string k) : kind_(std::move(k)) {}
  char *kind() override { return CORBA::string_dup(kind_.c_str()); }
  char *base_op(const char *s) override { return CORBA::string_dup((kind_ + ":base:" + s).c_str()); }

protected:
  std::string kind_;
};
template <class Skeleton> class LeftLevel : public Skeleton {
public:
  using Skeleton::Skeleton;
  CORBA::Long weight() override { return weight_; }
  void weight(CORBA::Long w) override { weight_ = w; }
  char *left_op(const char *s) override { return CORBA::string_dup((this->kind_ + ":left:" + s).c_str()); }

private:
  std::atomic<CORBA::Long> weight_{0};
};
template <class Skeleton> class RightLevel : public Skeleton {
public:
  using Skeleton::Skeleton;
  char *right_op(CORBA::Long n) override {
    return CORBA::string_dup((this->kind_ + ":right:" + std::to_string(n)).c_str());
  }
};
template <class Skeleton> class DiamondLevel : public Skeleton {
public:
  using Skeleton::Skeleton;
  char *diamond_op() override { return CORBA::string_dup((this->kind_ + ":diamond").c_str()); }
};

using BaseServant = BaseLevel<POA_Interop::Base>;
using LeftServant = LeftLevel<BaseLevel<POA_Interop::Left>>;
using RightServant = RightLevel<BaseLevel<POA_Interop::Right>>;
using DiamondServant = DiamondLevel<RightLevel<LeftLevel<BaseLevel<POA_Interop::Diamond>>>>;

// Activates a servant in the root POA, which then owns it.
template <class S> auto host(S *servant) {
  PortableServer::ServantBase_var owned = servant;
  return servant->_this();
}

// With --both-ways: the POA whose objects are called on connections that this program has opened, and whose servants call
// objects of their clients on connections that those have opened. omniORB asks the POA of both.
inline PortableServer::POA_var both_ways;

inline void make_both_ways(PortableServer::POA_ptr root, PortableServer::POAManager_ptr manager) {
  CORBA::PolicyList policies(1);
  policies.length(1);
  // As ORB::create_policy makes it; that would need the library for anys.
  policies[0] = new BiDirPolicy::BidirectionalPolicy(BiDirPolicy::BOTH);
  both_ways = root->create_POA("both ways", manager, policies);
}

// Activates a servant in that POA, which then owns it.
inline CORBA::Object_ptr host_both_ways(PortableServer::ServantBase *servant) {
  PortableServer::ServantBase_var owned = servant;
  PortableServer::ObjectId_var id = both_ways->activate_object(servant);
  return both_ways->id_to_reference(id);
}

// A node there, or in the root POA.
inline Node_ptr host_node(NodeServant *servant) {
  if (CORBA::is_nil(both_ways)) return host(servant);
  CORBA::Object_var o = host_both_ways(servant);
  return Node::_narrow(o);
}

inline Base_ptr make_family(const char *kind) {
  std::string k = kind;
  if (k == "Base") return host(new BaseServant(k));
  if (k == "Left") return host(new LeftServant(k));
  if (k == "Right") return host(new RightServant(k));
  if (k == "Diamond") return host(new DiamondServant(k));
  throw NoSuchKind(kind);
}

// What interop.idl says about Families::walk.
inline std::string walk(Base_ptr who) {
  CORBA::String_var s = who->base_op("w");
  std::string all = s.in();
  Left_var l = Left::_narrow(who);
  if (!CORBA::is_nil(l)) s = l->left_op("w"), all += std::string("|") + s.in();
  Right_var r = Right::_narrow(who);
  if (!CORBA::is_nil(r)) s = r->right_op(7), all += std::string("|") + s.in();
  Diamond_var d = Diamond::_narrow(who);
  if (!CORBA::is_nil(d)) s = d->diamond_op(), all += std::string("|") + s.in();
  return all;
}

} // namespace rules
