// What the programs of the papers' experiments share: requests on standard input, a line of JSON for each, and what
// they stand in for.
#pragma once
#include "digest.h"
#include "folded.h"
#include "options.h"
#include "report.h"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

inline bool publish(const std::string &path, const std::string &text) {
  std::string unfinished = path + ".tmp";
  FILE *file = fopen(unfinished.c_str(), "w");
  if (!file) return false;
  fprintf(file, "%s\n", text.c_str());
  return fclose(file) == 0 && rename(unfinished.c_str(), path.c_str()) == 0;
}

// Words of the next request; false at the end of the input.
inline bool next(std::istringstream &words) {
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  words = std::istringstream(line);
  return true;
}

inline std::vector<std::string> references(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> all;
  for (std::string one; file >> one;) all.push_back(one);
  return all;
}
