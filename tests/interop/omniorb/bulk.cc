// Mix and match: bulk STORE OCTETS. Calls ask for a socket and a ticket, and octets go through the socket, both ways.
#include "bulk.hh"

#include <arpa/inet.h>
#include <iostream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

typedef std::vector<unsigned char> Octets;

static unsigned long long checksum(const Octets &octets) {
  unsigned long long sum = 0xcbf29ce484222325ULL;
  for (unsigned char octet : octets)
    sum = (sum ^ octet) * 0x100000001b3ULL;
  return sum;
}

// A connection that has shown its ticket.
class Socket {
public:
  explicit Socket(const Bulk::Place &place) : fd(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(place.port);
    if (inet_pton(AF_INET, place.host, &to.sin_addr) != 1 || connect(fd, (sockaddr *)&to, sizeof to) != 0)
      throw std::string("cannot connect");
    write(place.shown.get_buffer(), place.shown.length());
  }
  ~Socket() { close(fd); }

  void write(const unsigned char *octets, size_t length) {
    while (length > 0) {
      ssize_t written = send(fd, octets, length, MSG_NOSIGNAL);
      if (written <= 0)
        throw std::string("cannot write");
      octets += written;
      length -= written;
    }
  }

  // Up to so many octets; fewer where the server closes.
  Octets read(size_t length) {
    Octets octets(length);
    size_t have = 0;
    while (have < length) {
      ssize_t more = recv(fd, octets.data() + have, length - have, 0);
      if (more <= 0)
        break;
      have += more;
    }
    octets.resize(have);
    return octets;
  }

private:
  int fd;
};

static void run(Bulk::Store_ptr store, size_t length) {
  Octets octets(length);
  unsigned long long state = 4711;
  for (unsigned char &octet : octets) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    octet = state >> 56;
  }
  try {
    Bulk::Place_var none = store->fetch("reel");
  } catch (Bulk::Unknown &) {
    std::cout << "nothing to fetch" << std::endl;
  }

  Bulk::Place_var to = store->put("reel", length);
  {
    Socket socket(to);
    socket.write(octets.data(), length / 2);
    store->moved();
    socket.write(octets.data() + length / 2, length - length / 2);
    std::cout << "put, and heard " << socket.read(2).size() << " octet" << std::endl;
  }
  std::cout << (store->checksum("reel") == checksum(octets) ? "the same there" : "others there") << std::endl;

  Bulk::Place_var from = store->fetch("reel");
  {
    Socket socket(from);
    Octets first = socket.read(length / 2);
    // There is a call to make while the socket is full.
    bool is_under_way = store->moved() < 2 * length;
    Octets rest = socket.read(2 * length);
    first.insert(first.end(), rest.begin(), rest.end());
    std::cout << "fetched " << first.size() << ", " << (first == octets ? "the same here" : "others here")
              << (is_under_way ? "" : ", and no call meanwhile") << std::endl;
  }

  // Shown once more; of neither; and then that of which the wrong one was made.
  std::cout << "again " << Socket(from).read(1).size() << std::endl;
  Bulk::Place_var next = store->fetch("reel");
  Bulk::Place wrong = next;
  wrong.shown[0] ^= 1;
  std::cout << "wrong " << Socket(wrong).read(1).size() << std::endl;
  std::cout << "right " << Socket(next).read(length).size() << std::endl;
  std::cout << "put again " << Socket(to).read(1).size() << std::endl;
}

int main(int argc, char **argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc < 3)
      return 2;
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    Bulk::Store_var store = Bulk::Store::_narrow(object);
    run(store, std::stoul(argv[2]));
    orb->destroy();
    return 0;
  } catch (CORBA::Exception &e) {
    std::cout << e._name() << std::endl;
  } catch (std::string &why) {
    std::cout << why << std::endl;
  }
  return 1;
}
