// omniORB's client of benches/papers/cubit.idl: the requests are those of benches/papers/cubit/main.rs.
//   cubit_client --ior FILE [--peer NAME] [-ORBmaxGIOPVersion 1.N] [-ORB...]
#include "cubes.h"
#include <functional>
#include <memory>

struct Operation {
  std::function<bool(Cubes_ptr)> call; // whether the server cubes right
  size_t octets = 0;
  uint64_t digest = 1;
};

static Operation operation(const std::string &name, size_t elements) {
  Many one;
  one.o = 11, one.l = 11, one.s = 11;
  if (name == "void") return {[](Cubes_ptr s) { return s->cube_void(), true; }, 0, 1};
  if (name == "octet") return {[](Cubes_ptr s) { return s->cube_octet(5) == cube(CORBA::Octet(5)); }, 1, 5};
  if (name == "short") return {[](Cubes_ptr s) { return s->cube_short(17) == cube(CORBA::Short(17)); }, 2, 17};
  if (name == "long") return {[](Cubes_ptr s) { return s->cube_long(1017) == cube(CORBA::Long(1017)); }, 4, 1017};
  if (name == "struct")
    return {[one](Cubes_ptr s) { return same(s->cube_struct(one), cube(one)); }, 12, digest_many(one)};
  if (name == "octets") {
    auto data = std::make_shared<OctetSeq>();
    data->length(elements);
    for (size_t i = 0; i < elements; i++) (*data)[i] = CORBA::Octet(i);
    std::shared_ptr<OctetSeq> right(cubes(*data));
    return {[data, right](Cubes_ptr s) { return all_same(OctetSeq_var(s->cube_octets(*data)).in(), *right); }, elements,
            digest_octets(data->get_buffer(), elements)};
  }
  if (name == "longs") {
    auto data = std::make_shared<LongSeq>();
    data->length(elements);
    for (size_t i = 0; i < elements; i++) (*data)[i] = CORBA::Long(i);
    std::shared_ptr<LongSeq> right(cubes(*data));
    return {[data, right](Cubes_ptr s) { return all_same(LongSeq_var(s->cube_longs(*data)).in(), *right); },
            4 * elements, digest(*data)};
  }
  if (name == "structs") {
    auto data = std::make_shared<ManySeq>();
    data->length(elements);
    for (size_t i = 0; i < elements; i++)
      (*data)[i].o = CORBA::Octet(i), (*data)[i].l = CORBA::Long(i), (*data)[i].s = CORBA::Short(i);
    std::shared_ptr<ManySeq> right(cubes(*data));
    return {[data, right](Cubes_ptr s) { return all_same(ManySeq_var(s->cube_structs(*data)).in(), *right); },
            12 * elements, digest(*data)};
  }
  return {};
}

static bool measure(std::istringstream &words, Cubes_ptr server, const std::string &peer) {
  std::string name;
  size_t elements, calls;
  if (!(words >> name >> elements >> calls)) return false;
  Operation op = operation(name, elements);
  if (!op.call) return false;
  size_t warmup = calls / 10 + 1;
  auto once = [&] {
    if (!op.call(server)) {
      fprintf(stderr, "cubit_client: %s came back wrong\n", name.c_str());
      exit(1);
    }
  };
  for (size_t i = 0; i < warmup; i++) once();
  Measured measured;
  measured.latencies.reserve(calls);
  uint64_t before = measured.start = now_ns();
  for (size_t i = 0; i < calls; i++) {
    once();
    uint64_t now = now_ns();
    measured.latencies.push_back(now - before);
    before = now;
  }
  measured.end = now_ns();
  report(Asked{peer, name, elements, op.octets, calls, warmup, 1, op.digest}, {measured});
  return true;
}

int main(int argc, char **argv) {
  Options options{argc, argv};
  std::string ior = options.text("--ior", ""), peer = options.text("--peer", "omniorb");
  const char *defaults[][2] = {{"traceLevel", "0"}, {"scanGranularity", "0"}, {nullptr, nullptr}};
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    std::vector<std::string> all = references(ior);
    if (all.empty()) {
      fprintf(stderr, "cubit_client: no reference\n");
      return 2;
    }
    CORBA::Object_var object = orb->string_to_object(all[0].c_str());
    Cubes_var server = Cubes::_unchecked_narrow(object);
    std::istringstream words;
    std::string what;
    while (next(words)) {
      words >> what;
      if (what == "shutdown") {
        server->shutdown();
        printf("{}\n");
        break;
      }
      if (what != "call" || !measure(words, server, peer)) {
        fprintf(stderr, "cubit_client: a request is not understood\n");
        return 2;
      }
    }
    orb->destroy();
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "cubit_client: %s\n", e._name());
    return 1;
  }
  return 0;
}
