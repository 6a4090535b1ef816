// A client of an interface repository: ifr_client REPOSITORY REPOSITORY-ID OBJECT prints what it reads of an interface and of
// the repository's own contents, and the interface of an object.
#define ENABLE_CLIENT_IR_SUPPORT
#include <omniORB4/CORBA.h>

#include <iostream>

static void run(CORBA::ORB_ptr orb, char **argv) {
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  CORBA::Repository_var repository = CORBA::Repository::_narrow(object);
  CORBA::Contained_var found = repository->lookup_id(argv[2]);
  CORBA::InterfaceDef_var interface = CORBA::InterfaceDef::_narrow(found);
  CORBA::String_var name = interface->absolute_name();
  std::cout << "interface " << name.in() << std::endl;
  CORBA::InterfaceDef::FullInterfaceDescription_var all = interface->describe_interface();
  for (CORBA::ULong i = 0; i < all->operations.length(); i++) {
    const CORBA::OperationDescription &operation = all->operations[i];
    std::cout << "operation " << operation.name.in() << " " << operation.result->kind();
    for (CORBA::ULong j = 0; j < operation.parameters.length(); j++) {
      const CORBA::ParameterDescription &parameter = operation.parameters[j];
      std::cout << " " << parameter.name.in() << ":" << parameter.type->kind();
    }
    std::cout << std::endl;
  }
  for (CORBA::ULong i = 0; i < all->attributes.length(); i++)
    std::cout << "attribute " << all->attributes[i].name.in() << std::endl;
  CORBA::ContainedSeq_var contents = repository->contents(CORBA::dk_all, 1);
  for (CORBA::ULong i = 0; i < contents->length(); i++) {
    CORBA::Contained::Description_var described = contents[i]->describe();
    CORBA::String_var inner = contents[i]->name();
    CORBA::TypeCode_var type = described->value.type();
    std::cout << "contains " << inner.in() << " " << type->name() << std::endl;
  }
  CORBA::Container::DescriptionSeq_var inside = interface->describe_contents(CORBA::dk_all, 0, -1);
  std::cout << "described " << inside->length() << std::endl;
  CORBA::Object_var other = orb->string_to_object(argv[3]);
  CORBA::InterfaceDef_var of = other->_get_interface();
  CORBA::String_var id = of->id();
  std::cout << "object " << id.in() << std::endl;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    run(orb, argv);
    orb->destroy();
    return 0;
  } catch (CORBA::SystemException &e) {
    std::cout << e._name() << " " << std::hex << e.minor() << std::endl;
    return 1;
  }
}
