// A client of a property service: properties FACTORY DEF-FACTORY.
#include "CosPropertyService.hh"

#include <iostream>

using namespace CosPropertyService;

static void run(CORBA::ORB_ptr orb, char **argv) {
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  PropertySetFactory_var factory = PropertySetFactory::_narrow(object);
  PropertySet_var set = factory->create_propertyset();
  CORBA::Any number, text;
  number <<= CORBA::Long(42);
  text <<= "text";
  set->define_property("number", number);
  set->define_property("text", text);
  std::cout << "defined " << set->get_number_of_properties() << std::endl;
  try {
    set->define_property("number", text);
  } catch (ConflictingProperty &) {
    std::cout << "conflict" << std::endl;
  }
  PropertyNames asked(2);
  asked.length(2);
  asked[0] = (const char *)"number";
  asked[1] = (const char *)"text";
  Properties_var found;
  set->get_properties(asked, found.out());
  CORBA::Long value = 0;
  const char *said = "";
  found[0].property_value >>= value;
  found[1].property_value >>= said;
  std::cout << "values " << value << " " << said << std::endl;
  Properties many(8);
  many.length(8);
  for (CORBA::ULong i = 0; i < 8; i++) {
    std::string name = "p" + std::to_string(i);
    many[i].property_name = name.c_str();
    many[i].property_value <<= CORBA::Long(i);
  }
  set->define_properties(many);
  PropertyNames_var names;
  PropertyNamesIterator_var rest;
  set->get_all_property_names(3, names.out(), rest.out());
  PropertyNames_var more;
  rest->next_n(100, more.out());
  rest->destroy();
  std::cout << "names " << names->length() << " and " << more->length() << std::endl;

  object = orb->string_to_object(argv[2]);
  PropertySetDefFactory_var defs = PropertySetDefFactory::_narrow(object);
  PropertyDefs initial(1);
  initial.length(1);
  initial[0].property_name = (const char *)"fixed";
  initial[0].property_value = number;
  initial[0].property_mode = fixed_normal;
  PropertySetDef_var def = defs->create_initial_propertysetdef(initial);
  try {
    def->delete_property("fixed");
  } catch (FixedProperty &) {
    std::cout << "fixed" << std::endl;
  }
  PropertyTypes types(1);
  types.length(1);
  types[0] = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
  def = defs->create_constrained_propertysetdef(types, PropertyDefs());
  try {
    def->define_property_with_mode("text", text, normal);
  } catch (UnsupportedTypeCode &) {
    std::cout << "constrained" << std::endl;
  }
  Properties wrong(3);
  wrong.length(3);
  wrong[0].property_name = (const char *)"";
  wrong[0].property_value = number;
  wrong[1].property_name = (const char *)"text";
  wrong[1].property_value = text;
  wrong[2].property_name = (const char *)"number";
  wrong[2].property_value = number;
  try {
    def->define_properties(wrong);
  } catch (MultipleExceptions &e) {
    std::cout << "several " << e.exceptions.length() << std::endl;
  }
}

int main(int argc, char **argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc < 3)
      return 2;
    run(orb, argv);
    orb->destroy();
    return 0;
  } catch (CORBA::Exception &e) {
    std::cout << e._name() << std::endl;
    return 1;
  }
}
