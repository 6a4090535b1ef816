// Prints the octets of a TypeCode of each union in unions.idl, as omniORB encodes it: `name hex`. With an argument, reads
// such lines from standard input instead, and says of each what it reads.
//
//     omniidl -bcxx -Wba -Wbuse_quotes unions.idl
//     g++ -o omniorb omniorb.cc unionsSK.cc unionsDynSK.cc -lomniDynamic4 -lomniORB4 -lomnithread
#include "unions.hh"
#include <iostream>
#include <iomanip>
#include <sstream>

#define KIND(k) TC(k, 1) TC(k, 2) TC(k, 3) TC(k, 4)

int main(int argc, char **argv)
{
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  if (argc > 1) {
    std::string name, hex;
    while (std::cin >> name >> hex) {
      cdrMemoryStream s;
      for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        CORBA::Octet o = std::stoi(hex.substr(i, 2), 0, 16);
        s.put_octet_array(&o, 1);
      }
      try {
        s.rewindInputPtr();
        CORBA::TypeCode_var tc = CORBA::TypeCode::unmarshalTypeCode(s);
        std::cout << name << " members";
        for (CORBA::ULong i = 0; i < tc->member_count(); i++) std::cout << " " << tc->member_name(i);
        std::cout << " default " << tc->default_index() << std::endl;
      } catch (const CORBA::Exception &e) {
        std::cout << name << " " << e._name() << std::endl;
      }
    }
    return 0;
  }
#define TC(k, n) { \
    cdrMemoryStream s; \
    CORBA::TypeCode::marshalTypeCode(Unions::_tc_U_##k##_##n, s); \
    std::cout << #k "_" #n " "; \
    const unsigned char *p = (const unsigned char *) s.bufPtr(); \
    for (size_t i = 0; i < s.bufSize(); i++) \
      std::cout << std::hex << std::setw(2) << std::setfill('0') << (int) p[i]; \
    std::cout << std::endl; }
  KIND(short) KIND(ushort) KIND(long) KIND(ulong) KIND(longlong) KIND(ulonglong)
  KIND(char) KIND(boolean) KIND(enum)
}
