// The objects and values of rich.idl that both programs make.
#pragma once
#include "rich_anys.h"

namespace rich {

inline PortableServer::POA_var root;

class ThingServant : public POA_Rich::Thing {
public:
  explicit ThingServant(std::string name) : name_(std::move(name)) {}
  char *describe() override { return CORBA::string_dup(("thing " + name_).c_str()); }
  char *name() override { return CORBA::string_dup(name_.c_str()); }

private:
  std::string name_;
};
inline Thing_ptr thing(const char *name) { return (new ThingServant(name))->_this(); }

inline std::string described_as(Describable_ptr it) {
  if (CORBA::is_nil(it)) return "nil";
  CORBA::String_var s = it->describe();
  return s.in();
}
inline Describable_ptr twin_of(Describable_ptr it) {
  if (CORBA::ValueBase *v = it->_to_value()) return thing(dynamic_cast<Note &>(*v).text());
  Thing_var t = Thing::_narrow(it);
  return new NoteValue(CORBA::String_var(t->name()));
}

// What make_base gives.
inline Base *base_of(bool hidden) {
  Base *inner = derived(8, "in", 0.5);
  if (hidden) {
    auto h = new OBV_Rich::Hidden;
    h->id(7), h->name("hidden"), h->secret("secret"), h->inner(inner), h->end(2.5);
    return h;
  }
  auto l = new OBV_Rich::Longest;
  l->id(7), l->name("hidden"), l->extra(-9), l->inner(inner), l->last(0x77);
  LongSeq list;
  list.length(3);
  for (int i = 0; i < 3; i++) list[i] = i + 1;
  l->list(list);
  return l;
}

} // namespace rich
