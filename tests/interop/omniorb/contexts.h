// Interceptors with service contexts, with --contexts: a client adds ASKED to each request, and prints ANSWERED of each reply;
// a server returns what it was asked as ANSWERED, also with exceptions. The data is an octet 0 and text.
#pragma once
#include <omniORB4/CORBA.h>
#include <omniORB4/omniInterceptors.h>
#include <omniORB4/internal/giopStream.h>
#include <omniORB4/internal/giopStrand.h>
#include <omniORB4/internal/GIOP_S.h>
#include <cstdio>
#include <cstring>
#include <string>

namespace contexts {
using omni::omniInterceptors;
const CORBA::ULong ASKED = 0x5a580001, ANSWERED = 0x5a580002;

inline std::string text(const IOP::ServiceContextList &list, CORBA::ULong id) {
  for (CORBA::ULong i = 0; i < list.length(); i++) {
    const auto &data = list[i].context_data;
    if (list[i].context_id == id && data.length() > 0)
      return std::string((const char *)data.get_buffer() + 1, data.length() - 1);
  }
  return "";
}

inline void add(IOP::ServiceContextList &list, CORBA::ULong id, const std::string &text) {
  CORBA::ULong n = list.length();
  list.length(n + 1);
  list[n].context_id = id;
  list[n].context_data.length(CORBA::ULong(text.size() + 1));
  list[n].context_data[0] = 0;
  memcpy(list[n].context_data.get_buffer() + 1, text.data(), text.size());
}

inline CORBA::Boolean send_request(omniInterceptors::clientSendRequest_T::info_T &info) {
  add(info.service_contexts, ASKED, "omniorb asks");
  return true;
}

inline CORBA::Boolean receive_reply(omniInterceptors::clientReceiveReply_T::info_T &info) {
  std::string answered = text(info.service_contexts, ANSWERED);
  printf("answered: %s\n", answered.empty() ? "nothing" : answered.c_str());
  return true;
}

// The list of the request is emptied for that of the reply, in the thread that has read it.
inline thread_local std::string asked;

inline CORBA::Boolean receive_request(omniInterceptors::serverReceiveRequest_T::info_T &info) {
  asked = text(info.giop_s.service_contexts(), ASKED);
  return true;
}

inline CORBA::Boolean answer(omni::GIOP_S &giop) {
  if (!asked.empty()) add(giop.service_contexts(), ANSWERED, "omniorb was asked: " + asked);
  return true;
}

inline CORBA::Boolean send_reply(omniInterceptors::serverSendReply_T::info_T &info) { return answer(info.giop_s); }
inline CORBA::Boolean send_exception(omniInterceptors::serverSendException_T::info_T &info) { return answer(info.giop_s); }

inline void begin() {
  omniInterceptors *all = omniORB::getInterceptors();
  all->clientSendRequest.add(send_request);
  all->clientReceiveReply.add(receive_reply);
  all->serverReceiveRequest.add(receive_request);
  all->serverSendReply.add(send_reply);
  all->serverSendException.add(send_exception);
}
}
