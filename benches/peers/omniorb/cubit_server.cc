// omniORB's server of benches/papers/cubit.idl.
//   cubit_server --ior FILE [--unix PATH] [-ORB...]
#include "cubes.h"

static CORBA::ORB_var orb;
static Folded fold;

class Cuber : public POA_Papers::Cubit::Cubes {
public:
  void cube_void() override { fold(1); }
  CORBA::Octet cube_octet(CORBA::Octet o) override {
    fold(o);
    return cube(o);
  }
  CORBA::Short cube_short(CORBA::Short s) override {
    fold(uint16_t(s));
    return cube(s);
  }
  CORBA::Long cube_long(CORBA::Long l) override {
    fold(uint32_t(l));
    return cube(l);
  }
  Many cube_struct(const Many &m) override {
    fold(digest_many(m));
    return cube(m);
  }
  OctetSeq *cube_octets(const OctetSeq &data) override {
    fold(digest_octets(data.get_buffer(), data.length()));
    return cubes(data);
  }
  LongSeq *cube_longs(const LongSeq &data) override {
    fold(digest(data));
    return cubes(data);
  }
  ManySeq *cube_structs(const ManySeq &data) override {
    fold(digest(data));
    return cubes(data);
  }
  void shutdown() override { orb->shutdown(0); }
};

int main(int argc, char **argv) {
  Options options{argc, argv};
  std::string ior = options.text("--ior", ""), path = options.text("--unix", "");
  std::string endpoint = path.empty() ? "giop:tcp:127.0.0.1:" : "giop:unix:" + path;
  const char *defaults[][2] = {{"endPoint", endpoint.c_str()},
                               {"traceLevel", "0"},
                               {"threadPerConnectionPolicy", "1"},
                               {"supportCurrent", "0"},
                               {"scanGranularity", "0"},
                               {nullptr, nullptr}};
  try {
    orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    Cuber *servant = new Cuber;
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    object = servant->_this();
    poa->the_POAManager()->activate();
    CORBA::String_var reference = orb->object_to_string(object);
    if (!publish(ior, reference.in())) {
      perror(ior.c_str());
      return 1;
    }
    orb->run();
    orb->destroy();
    fold.farewell();
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "cubit_server: %s\n", e._name());
    return 1;
  }
  return 0;
}
