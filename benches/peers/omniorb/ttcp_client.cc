// omniORB's transmitter of benches/papers/ttcp.idl: the requests are those of benches/papers/ttcp/main.rs.
//   ttcp_client --ior FILE [--queue OCTETS] [--peer NAME] [-ORB...]
#include "papers.h"
#include "queues.h"
#include "ttcp.hh"
#include <functional>

using namespace Papers::Throughput;

struct Buffer { // with the contents that every peer's has
  CharSeq chars;
  OctetSeq octets;
  StructSeq structs;
  std::string text;
  size_t length;
  uint64_t digest;
  std::function<void(Ttcp_ptr)> send;

  Buffer(const std::string &kind, size_t size) : length(size), digest(0) {
    auto letter = [](size_t i) { return char('a' + i % 26); };
    if (kind == "chars") {
      chars.length(size);
      for (size_t i = 0; i < size; i++) chars[i] = letter(i);
      digest = digest_octets(reinterpret_cast<const unsigned char *>(chars.get_buffer()), size);
      send = [this](Ttcp_ptr server) { server->send_chars(chars); };
    } else if (kind == "octets") {
      octets.length(size);
      for (size_t i = 0; i < size; i++) octets[i] = CORBA::Octet(i);
      digest = digest_octets(octets.get_buffer(), size);
      send = [this](Ttcp_ptr server) { server->send_octets(octets); };
    } else if (kind == "string") {
      for (size_t i = 0; i < size; i++) text += letter(i);
      digest = digest_text(text.c_str());
      send = [this](Ttcp_ptr server) { server->send_string(text.c_str()); };
    } else if (kind == "structs") {
      size_t len = std::max(size / 24, size_t(1));
      length = 24 * len;
      structs.length(len);
      digest = len;
      for (size_t i = 0; i < len; i++) {
        BinStruct &each = structs[i];
        each.s = CORBA::Short(i), each.c = letter(i), each.l = CORBA::Long(i);
        each.o = CORBA::Octet(i), each.d = CORBA::Double(i);
        uint64_t bits;
        memcpy(&bits, &each.d, 8);
        digest += (uint64_t(uint32_t(each.l)) | uint64_t(uint16_t(each.s)) << 32 | uint64_t(uint8_t(each.c)) << 48 |
                   uint64_t(each.o) << 56) +
                  bits;
      }
      send = [this](Ttcp_ptr server) { server->send_structs(structs); };
    }
  }
};

static bool flood(std::istringstream &words, Ttcp_ptr server, const std::string &peer) {
  std::string kind;
  size_t octets, buffers, most, sent = 0;
  if (!(words >> kind >> octets >> buffers >> most)) return false;
  Buffer buffer(kind, octets);
  if (!buffer.send) return false;
  buffer.send(server);
  server->sync();
  // Asking for the time must not be seen among the shortest of calls.
  size_t between = std::min(std::max((size_t(256) << 10) / buffer.length, size_t(1)), size_t(256));
  Measured measured;
  measured.start = now_ns();
  while (sent < buffers && now_ns() - measured.start < most * 1000000)
    for (size_t i = std::min(between, buffers - sent); i > 0; i--, sent++) buffer.send(server);
  server->sync();
  measured.end = now_ns();
  report(Asked{peer, kind, octets, buffer.length, sent, 1, 1, buffer.digest}, {measured});
  return true;
}

static bool call(std::istringstream &words, const std::vector<Ttcp_var> &servers, const std::string &peer) {
  std::string way, order;
  size_t calls;
  if (!(words >> way >> order >> calls)) return false;
  bool oneway = way == "oneway", train = order == "train";
  size_t each = std::max(calls / servers.size(), size_t(1));
  Measured measured;
  if (!oneway) measured.latencies.reserve(calls);
  servers[0]->sync();
  uint64_t before = measured.start = now_ns();
  for (size_t i = 0; i < calls; i++) {
    Ttcp_ptr server = servers[(train ? i / each : i) % servers.size()];
    if (oneway) {
      server->nothing_1way();
    } else {
      server->nothing_2way();
      uint64_t now = now_ns();
      measured.latencies.push_back(now - before);
      before = now;
    }
  }
  if (oneway) servers[0]->sync();
  measured.end = now_ns();
  report(Asked{peer, way + " " + order, 0, 0, calls, 0, 1, 1}, {measured});
  return true;
}

int main(int argc, char **argv) {
  Options options{argc, argv};
  std::string queue = options.text("--queue", ""), peer = options.text("--peer", "omniorb"), ior = options.text("--ior", "");
  if (!queue.empty()) setenv("BENCH_QUEUE", queue.c_str(), 1);
  const char *defaults[][2] = {
      {"traceLevel", "0"}, {"scanGranularity", "0"}, {"giopMaxMsgSize", "67108864"}, {nullptr, nullptr}};
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    std::vector<Ttcp_var> servers;
    for (const std::string &reference : references(ior)) {
      CORBA::Object_var object = orb->string_to_object(reference.c_str());
      servers.push_back(Ttcp::_unchecked_narrow(object));
    }
    if (servers.empty()) {
      fprintf(stderr, "ttcp_client: no references\n");
      return 2;
    }
    std::istringstream words;
    std::string what;
    while (next(words)) {
      words >> what;
      bool done = what == "send"   ? flood(words, servers[0], peer)
                  : what == "call" ? call(words, servers, peer)
                                   : what == "shutdown";
      if (!done) {
        fprintf(stderr, "ttcp_client: a request is not understood\n");
        return 2;
      }
      if (what == "shutdown") {
        servers[0]->shutdown();
        printf("{}\n");
        break;
      }
    }
    orb->destroy();
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "ttcp_client: %s\n", e._name());
    return 1;
  }
  return 0;
}
