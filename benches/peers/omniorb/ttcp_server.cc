// omniORB's receiver of benches/papers/ttcp.idl.
//   ttcp_server --ior FILE [--unix PATH] [--host ADDRESS] [--servants N] [--queue OCTETS] [-ORB...]
#include "papers.h"
#include "queues.h"
#include "ttcp.hh"

static CORBA::ORB_var orb;
static Folded fold;

class Receiver : public POA_Papers::Throughput::Ttcp {
public:
  void send_chars(const Papers::Throughput::CharSeq &data) override {
    fold(digest_octets(reinterpret_cast<const unsigned char *>(data.get_buffer()), data.length()));
  }
  void send_octets(const Papers::Throughput::OctetSeq &data) override {
    fold(digest_octets(data.get_buffer(), data.length()));
  }
  void send_string(const char *data) override { fold(digest_text(data)); }
  void send_structs(const Papers::Throughput::StructSeq &data) override {
    const Papers::Throughput::BinStruct *at = data.get_buffer();
    size_t len = data.length();
    uint64_t sum = len, bits;
    for (size_t i = 0; i < len; i++) {
      memcpy(&bits, &at[i].d, 8);
      sum += (uint64_t(uint32_t(at[i].l)) | uint64_t(uint16_t(at[i].s)) << 32 | uint64_t(uint8_t(at[i].c)) << 48 |
              uint64_t(at[i].o) << 56) +
             bits;
    }
    fold(sum);
  }
  void sync() override {}
  void nothing_1way() override { fold(1); }
  void nothing_2way() override { fold(1); }
  void shutdown() override { orb->shutdown(0); }
};

int main(int argc, char **argv) {
  Options options{argc, argv};
  std::string ior = options.text("--ior", ""), path = options.text("--unix", ""), queue = options.text("--queue", "");
  std::string endpoint = path.empty() ? "giop:tcp:" + options.text("--host", "127.0.0.1") + ":" : "giop:unix:" + path;
  if (!queue.empty()) setenv("BENCH_QUEUE", queue.c_str(), 1);
  const char *defaults[][2] = {{"endPoint", endpoint.c_str()},
                               {"traceLevel", "0"},
                               {"threadPerConnectionPolicy", "1"},
                               {"supportCurrent", "0"},
                               {"scanGranularity", "0"},
                               {"giopMaxMsgSize", "67108864"},
                               {nullptr, nullptr}};
  try {
    orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    std::string all;
    for (size_t i = 0; i < options.number("--servants", 1); i++) {
      Receiver *servant = new Receiver;
      PortableServer::ObjectId_var id = poa->activate_object(servant);
      object = servant->_this();
      CORBA::String_var reference = orb->object_to_string(object);
      all += (i ? "\n" : "") + std::string(reference.in());
    }
    poa->the_POAManager()->activate();
    if (!publish(ior, all)) {
      perror(ior.c_str());
      return 1;
    }
    orb->run();
    orb->destroy();
    fold.farewell();
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "ttcp_server: %s\n", e._name());
    return 1;
  }
  return 0;
}
