// The command line of both programs: `--name value`. What begins with -ORB is omniORB's.
#pragma once
#include <cstdlib>
#include <cstring>
#include <string>

struct Options {
  int argc;
  char **argv;

  std::string text(const char *name, const char *otherwise) const {
    for (int i = 1; i + 1 < argc; i++)
      if (strcmp(argv[i], name) == 0) return argv[i + 1];
    return otherwise;
  }

  size_t number(const char *name, size_t otherwise) const {
    std::string told = text(name, "");
    return told.empty() ? otherwise : strtoull(told.c_str(), nullptr, 10);
  }
};
