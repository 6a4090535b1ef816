// omniORB's client of latency.idl: a line on standard input is a measurement, and the end of it the end.
//   latency-client --ior FILE [-ORB...]
// What it is asked is in benches/papers/latency/client.rs.
#include "barrier.h"
#include "latency.h"
#include "options.h"
#include "report.h"
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

struct Payload { // built for each request, with the contents that every peer's has
  Tcp::ShortSeq shorts;
  Tcp::CharSeq chars;
  Tcp::LongSeq longs;
  Tcp::OctetSeq octets;
  Tcp::DoubleSeq doubles;
  Tcp::StructSeq structs;

  explicit Payload(size_t size) {
    shorts.length(size), chars.length(size), longs.length(size);
    octets.length(size), doubles.length(size), structs.length(size);
    for (size_t i = 0; i < size; i++) {
      CORBA::Char letter = CORBA::Char('a' + i % 26);
      shorts[i] = CORBA::Short(i), chars[i] = letter, longs[i] = CORBA::Long(i);
      octets[i] = CORBA::Octet(i), doubles[i] = CORBA::Double(i);
      Latency::BinStruct &each = structs[i];
      each.s = CORBA::Short(i), each.c = letter, each.l = CORBA::Long(i), each.o = CORBA::Octet(i);
      each.d = CORBA::Double(i);
    }
  }
};

// The paper's algorithms, as benches/papers/latency/order.rs has them.
struct Turns {
  std::string order;
  size_t servants, operations, done = 0;
  uint64_t state = 0x9e3779b97f4a7c15u;

  size_t below(size_t count) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return size_t((state >> 32) * count >> 32);
  }
  void next(size_t &servant, size_t &operation) {
    size_t turn = done++;
    if (order == "train") servant = turn / 100 % servants, operation = turn % operations;
    else if (order == "robin") servant = turn % servants, operation = turn % operations;
    else if (order == "random") servant = below(servants), operation = below(operations);
    else if (order == "worst") servant = servants - 1, operation = operations - 1;
    else throw std::runtime_error("no such order");
  }
};

template <class Ptr> using Call = void (*)(Ptr);
#define CALL(n) [](auto one) { one->op##n(); },
static const Call<Latency::Ten_ptr> TEN[] = {OPERATIONS_10(CALL)};
static const Call<Latency::Hundred_ptr> HUNDRED[] = {OPERATIONS_100(CALL)};

class Held {
  Latency::Control_var control;
  std::vector<Tcp::_var_type> sequences;
  std::vector<Latency::One_var> ones;
  std::vector<Latency::Ten_var> tens;
  std::vector<Latency::Hundred_var> hundreds;

  template <class Seq, class Var> void grow(std::vector<Var> &held, size_t wanted, Seq *(*more)(Latency::Control_ptr, CORBA::ULong)) {
    if (held.size() > wanted) throw std::runtime_error("there are more servants already");
    while (held.size() < wanted) { // so many at a time that no reply is of megabytes
      Seq *all = more(control, CORBA::ULong(std::min<size_t>(wanted - held.size(), 1000)));
      for (CORBA::ULong i = 0; i < all->length(); i++) held.push_back(Var((*all)[i]._retn()));
      delete all;
    }
  }

public:
  explicit Held(Latency::Control_ptr of) : control(Latency::Control::_duplicate(of)) {}

  Latency::tcp_sequence_ptr first() {
    if (sequences.empty()) grow_to("noparams", 1);
    return sequences[0];
  }
  size_t grow_to(const std::string &op, size_t wanted) { // how many operations there are to choose from
    if (op == "ops1") {
      grow<Latency::Ones>(ones, wanted, [](Latency::Control_ptr c, CORBA::ULong n) { return c->addOnes(n); });
      return 1;
    }
    if (op == "ops10") {
      grow<Latency::Tens>(tens, wanted, [](Latency::Control_ptr c, CORBA::ULong n) { return c->addTens(n); });
      return 10;
    }
    if (op == "ops100") {
      grow<Latency::Hundreds>(hundreds, wanted, [](Latency::Control_ptr c, CORBA::ULong n) { return c->addHundreds(n); });
      return 100;
    }
    grow<Latency::Sequences>(sequences, wanted, [](Latency::Control_ptr c, CORBA::ULong n) { return c->addSequences(n); });
    return 1;
  }

  // What is called, its octets, and what a servant folds of it.
  std::function<void(size_t, size_t)> call(const std::string &op, const Payload &p, size_t size, size_t &octets,
                                           uint64_t &sent) {
    octets = 0, sent = 1;
    if (op == "ops1") return [this](size_t s, size_t) { ones[s]->op0(); };
    if (op == "ops10") return [this](size_t s, size_t o) { TEN[o](tens[s]); };
    if (op == "ops100") return [this](size_t s, size_t o) { HUNDRED[o](hundreds[s]); };
    if (op == "noparams") return [this](size_t s, size_t) { sequences[s]->sendNoParams_2way(); };
    if (op == "oneway_noparams") return [this](size_t s, size_t) { sequences[s]->sendNoParams_1way(); };
#define SEQUENCE(word, Type, member, width)                                                                  \
  if (op == word) {                                                                                          \
    octets = width * size, sent = digest(p.member);                                                          \
    return [this, &p](size_t s, size_t) { sequences[s]->send##Type##Seq_2way(p.member); };                   \
  }                                                                                                          \
  if (op == "oneway_" word) {                                                                                \
    octets = width * size, sent = digest(p.member);                                                          \
    return [this, &p](size_t s, size_t) { sequences[s]->send##Type##Seq_1way(p.member); };                   \
  }
    SEQUENCE("short", Short, shorts, 2)
    SEQUENCE("char", Char, chars, 1)
    SEQUENCE("long", Long, longs, 4)
    SEQUENCE("octet", Octet, octets, 1)
    SEQUENCE("double", Double, doubles, 8)
    SEQUENCE("struct", Struct, structs, 24)
    throw std::runtime_error("no such operation");
  }
};

static void one_by_one(Held &held, std::istringstream &words, const std::string &op) {
  size_t size, servants, iters, warmup, octets, servant, operation;
  std::string order;
  if (!(words >> size >> servants >> order >> iters >> warmup)) throw std::runtime_error("a word is missing");
  size_t operations = held.grow_to(op, servants);
  Payload payload(size);
  uint64_t sent;
  auto call = held.call(op, payload, size, octets, sent);
  bool oneway = op.rfind("oneway_", 0) == 0;
  Turns turns{order, servants, operations};
  for (size_t i = 0; i < warmup; i++) turns.next(servant, operation), call(servant, operation);
  if (oneway) held.first()->sync();
  Measured measured;
  if (!oneway) measured.latencies.reserve(iters);
  uint64_t before = measured.start = now_ns();
  for (size_t i = 0; i < iters; i++) {
    turns.next(servant, operation);
    call(servant, operation);
    if (!oneway) {
      uint64_t now = now_ns();
      measured.latencies.push_back(now - before);
      before = now;
    }
  }
  if (oneway) held.first()->sync();
  measured.end = now_ns();
  report(Asked{"omniorb", op, size, octets, iters, warmup, 1, sent}, {measured});
}

static void together(Held &held, std::istringstream &words) {
  size_t callers, each, warmup;
  if (!(words >> callers >> each >> warmup)) throw std::runtime_error("a word is missing");
  Latency::tcp_sequence_ptr server = held.first();
  Barrier start(callers);
  std::vector<Measured> measured(callers);
  std::vector<std::thread> threads;
  for (Measured &mine : measured)
    threads.emplace_back([&] {
      try {
        mine.latencies.reserve(each);
        for (size_t i = 0; i < warmup; i++) server->sendNoParams_2way();
        start.wait();
        uint64_t before = mine.start = now_ns();
        for (size_t i = 0; i < each; i++) {
          server->sendNoParams_2way();
          uint64_t now = now_ns();
          mine.latencies.push_back(now - before);
          before = now;
        }
        mine.end = before;
      } catch (const CORBA::Exception &e) {
        fprintf(stderr, "latency-client: %s\n", e._name());
        exit(1);
      }
    });
  for (std::thread &each_one : threads) each_one.join();
  report(Asked{"omniorb", "callers", callers, 0, each, warmup, callers, 1}, measured);
}

int main(int argc, char **argv) {
  const char *defaults[][2] = {{"traceLevel", "0"}, {"maxGIOPVersion", "1.2"}, {nullptr, nullptr}};
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    Options options{argc, argv};
    std::ifstream file(options.text("--ior", ""));
    std::string reference, line;
    if (!std::getline(file, reference)) {
      fprintf(stderr, "latency-client: --ior FILE is needed, with a reference in it\n");
      return 2;
    }
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    Latency::Control_var control = Latency::Control::_narrow(object);
    if (CORBA::is_nil(control)) {
      fprintf(stderr, "latency-client: the reference is not a Latency::Control\n");
      return 1;
    }
    Held held(control);
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string op;
      words >> op;
      if (op == "shutdown") {
        control->shutdown();
        break;
      }
      try {
        if (op == "callers") together(held, words);
        else one_by_one(held, words, op);
      } catch (const std::exception &e) {
        printf("{\"error\":\"%s\"}\n", e.what());
        fflush(stdout);
      } catch (const CORBA::Exception &e) {
        printf("{\"error\":\"%s\"}\n", e._name());
        fflush(stdout);
      }
    }
    orb->destroy();
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "latency-client: %s\n", e._name());
    return 1;
  }
  return 0;
}
