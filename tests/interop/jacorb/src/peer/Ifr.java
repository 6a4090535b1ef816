package peer;

import org.omg.CORBA.AttributeDescription;
import org.omg.CORBA.Contained;
import org.omg.CORBA.DefinitionKind;
import org.omg.CORBA.InterfaceDef;
import org.omg.CORBA.InterfaceDefHelper;
import org.omg.CORBA.InterfaceDefPackage.FullInterfaceDescription;
import org.omg.CORBA.ORB;
import org.omg.CORBA.OperationDescription;
import org.omg.CORBA.ParameterDescription;
import org.omg.CORBA.Repository;
import org.omg.CORBA.RepositoryHelper;

/**
 * A client of an interface repository: {@code ifr REPOSITORY REPOSITORY-ID OBJECT} prints what it reads of an interface and of the
 * repository's own contents, and the interface of an object.
 */
public final class Ifr {
    public static void main(String[] args) throws Exception {
        ORB orb = ORB.init(new String[0], null);
        Repository repository = RepositoryHelper.narrow(orb.string_to_object(args[0]));
        InterfaceDef found = InterfaceDefHelper.narrow(repository.lookup_id(args[1]));
        System.out.println("interface " + found.absolute_name());
        FullInterfaceDescription all = found.describe_interface();
        for (OperationDescription operation : all.operations) {
            StringBuilder line = new StringBuilder("operation " + operation.name + " " + operation.result.kind().value());
            for (ParameterDescription parameter : operation.parameters) {
                line.append(" ").append(parameter.name).append(":").append(parameter.type.kind().value());
            }
            System.out.println(line);
        }
        for (AttributeDescription attribute : all.attributes) {
            System.out.println("attribute " + attribute.name);
        }
        for (Contained contained : repository.contents(DefinitionKind.dk_all, true)) {
            System.out.println("contains " + contained.name() + " " + contained.describe().value.type().name());
        }
        System.out.println("described " + found.describe_contents(DefinitionKind.dk_all, false, -1).length);
        org.omg.CORBA.Object object = orb.string_to_object(args[2]);
        System.out.println("object " + InterfaceDefHelper.narrow(object._get_interface_def()).id());
        orb.shutdown(true);
    }
}
