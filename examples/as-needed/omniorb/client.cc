// omniORB's client, by the wrapper.
//   client --server REFERENCE [--agent REFERENCE] [--code-set UTF-8] [--ask-again MILLISECONDS] [-ORB...]
// It reads lines, and answers each with one:
//   call TEXT          native TEXT | CORBA TEXT | failed EXCEPTION
//   time CALLS OCTETS  ns NANOSECONDS, of all calls
#include "as_needed.h"

#include <iostream>

static const char *option(int argc, char **argv, const char *name, const char *otherwise) {
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}

int main(int argc, char **argv) {
  const char *defaults[][2] = {{"traceLevel", "0"}, {"clientCallTimeOutPeriod", "5000"}, {nullptr, nullptr}};
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", defaults);
    CORBA::Object_var server = orb->string_to_object(option(argc, argv, "--server", ""));
    const char *of_agent = option(argc, argv, "--agent", "");
    CORBA::Object_var agent = *of_agent ? orb->string_to_object(of_agent) : CORBA::Object::_nil();
    std::chrono::milliseconds ask_again(atol(option(argc, argv, "--ask-again", "5000")));
    AsNeeded::Echo_var stub = AsNeeded::Echo::_unchecked_narrow(server);
    AsNeeded::Agent_var asked = AsNeeded::Agent::_unchecked_narrow(agent);
    as_needed::Echo echo(stub, asked, as_needed::platform(option(argc, argv, "--code-set", "UTF-8")), ask_again);
    for (std::string line; std::getline(std::cin, line);) {
      try {
        size_t calls, octets;
        if (sscanf(line.c_str(), "time %zu %zu", &calls, &octets) == 2) {
          std::string text(octets, 'x');
          auto begun = std::chrono::steady_clock::now();
          for (size_t i = 0; i < calls; i++) CORBA::String_var(echo.echoString(text.c_str()));
          std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
          std::cout << "ns " << took.count() << std::endl;
        } else {
          CORBA::String_var said = echo.echoString(line.c_str() + strlen("call "));
          std::cout << (echo.was_native() ? "native " : "CORBA ") << said.in() << std::endl;
        }
      } catch (const CORBA::Exception &e) {
        std::cout << "failed " << e._name() << std::endl;
      }
    }
    orb->destroy();
    return 0;
  } catch (const CORBA::Exception &e) {
    fprintf(stderr, "client: %s\n", e._name());
    return 1;
  }
}
