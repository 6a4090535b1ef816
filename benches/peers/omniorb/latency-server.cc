// omniORB's server of latency.idl: as many servants as its client asks for, with a thread for each connection.
//   latency-server --ior FILE [-ORB...]
// When it ends it prints how often all servants were called and the digest of what they were sent.
#include "folded.h"
#include "latency.h"
#include "options.h"
#include <cstdio>

static CORBA::ORB_var orb;
static PortableServer::POA_var poa;
static Folded fold;

struct Sequence : POA_Latency::tcp_sequence {
  void sendNoParams_2way() override { fold(1); }
  void sendShortSeq_2way(const Tcp::ShortSeq &all) override { fold(digest(all)); }
  void sendCharSeq_2way(const Tcp::CharSeq &all) override { fold(digest(all)); }
  void sendLongSeq_2way(const Tcp::LongSeq &all) override { fold(digest(all)); }
  void sendOctetSeq_2way(const Tcp::OctetSeq &all) override { fold(digest(all)); }
  void sendDoubleSeq_2way(const Tcp::DoubleSeq &all) override { fold(digest(all)); }
  void sendStructSeq_2way(const Tcp::StructSeq &all) override { fold(digest(all)); }
  void sendNoParams_1way() override { fold(1); }
  void sendShortSeq_1way(const Tcp::ShortSeq &all) override { fold(digest(all)); }
  void sendCharSeq_1way(const Tcp::CharSeq &all) override { fold(digest(all)); }
  void sendLongSeq_1way(const Tcp::LongSeq &all) override { fold(digest(all)); }
  void sendOctetSeq_1way(const Tcp::OctetSeq &all) override { fold(digest(all)); }
  void sendDoubleSeq_1way(const Tcp::DoubleSeq &all) override { fold(digest(all)); }
  void sendStructSeq_1way(const Tcp::StructSeq &all) override { fold(digest(all)); }
  void sync() override {}
};

#define FOLD(n) \
  void op##n() override { fold(1); }
struct One : POA_Latency::One {
  FOLD(0)
};
struct Ten : POA_Latency::Ten {
  OPERATIONS_10(FOLD)
};
struct Hundred : POA_Latency::Hundred {
  OPERATIONS_100(FOLD)
};

template <class Seq, class Servant> Seq *more(CORBA::ULong count) {
  Seq *all = new Seq;
  all->length(count);
  for (CORBA::ULong i = 0; i < count; i++) {
    Servant *servant = new Servant;
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    (*all)[i] = servant->_this();
    servant->_remove_ref();
  }
  return all;
}

struct Controller : POA_Latency::Control {
  Latency::Sequences *addSequences(CORBA::ULong n) override { return more<Latency::Sequences, Sequence>(n); }
  Latency::Ones *addOnes(CORBA::ULong n) override { return more<Latency::Ones, One>(n); }
  Latency::Tens *addTens(CORBA::ULong n) override { return more<Latency::Tens, Ten>(n); }
  Latency::Hundreds *addHundreds(CORBA::ULong n) override { return more<Latency::Hundreds, Hundred>(n); }
  void shutdown() override { orb->shutdown(0); }
};

int main(int argc, char **argv) {
  Options options{argc, argv};
  std::string ior = options.text("--ior", "");
  const char *defaults[][2] = {{"endPoint", "giop:tcp:127.0.0.1:"}, {"traceLevel", "0"},
                               {"maxGIOPVersion", "1.2"},           {"threadPerConnectionPolicy", "1"},
                               {nullptr, nullptr}};
  try {
    orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    poa = PortableServer::POA::_narrow(object);
    Controller *control = new Controller;
    PortableServer::ObjectId_var id = poa->activate_object(control);
    object = control->_this();
    poa->the_POAManager()->activate();
    CORBA::String_var reference = orb->object_to_string(object);
    std::string unfinished = ior + ".tmp";
    FILE *file = fopen(unfinished.c_str(), "w");
    if (!file || fprintf(file, "%s\n", reference.in()) < 0 || fclose(file) != 0 ||
        rename(unfinished.c_str(), ior.c_str()) != 0) {
      perror(ior.c_str());
      return 1;
    }
    orb->run();
    orb->destroy();
    fold.farewell();
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "latency-server: %s\n", e._name());
    return 1;
  }
  return 0;
}
