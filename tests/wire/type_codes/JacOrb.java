// Prints the octets of a TypeCode of each union in unions.idl, as JacORB encodes it: `name hex`. With an argument, reads
// such lines from standard input instead, and says of each what it reads.
//
//     javac -cp 'LIB/*' JacOrb.java && java -cp 'LIB/*:.' JacOrb

import org.jacorb.orb.CDRInputStream;
import org.jacorb.orb.CDROutputStream;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.UnionMember;

public class JacOrb {
    static String hex(byte[] octets) {
        StringBuilder s = new StringBuilder();
        for (byte b : octets) s.append(String.format("%02x", b));
        return s.toString();
    }

    static TypeCode odd(ORB orb, int n) {
        String b = "bbbb".substring(0, n);
        String[] names = n == 1 ? new String[] {"b", "c"} : new String[] {b};
        return orb.create_enum_tc("IDL:Unions/Odd" + n + ":1.0", "Odd" + n, names);
    }

    public static void main(String[] args) throws Exception {
        java.util.Properties p = new java.util.Properties();
        p.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        p.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        ORB orb = ORB.init(new String[0], p);
        if (args.length > 0) {
            java.util.Scanner in = new java.util.Scanner(System.in);
            while (in.hasNext()) {
                String name = in.next(), text = in.next();
                byte[] octets = new byte[text.length() / 2];
                for (int i = 0; i < octets.length; i++)
                    octets[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
                try {
                    CDRInputStream s = new CDRInputStream(orb, octets, args[0].equals("little"));
                    TypeCode tc = s.read_TypeCode();
                    StringBuilder names = new StringBuilder();
                    for (int i = 0; i < tc.member_count(); i++) names.append(" ").append(tc.member_name(i));
                    System.out.println(name + " members" + names + " default " + tc.default_index());
                } catch (Throwable e) {
                    System.out.println(name + " " + e.getClass().getSimpleName());
                }
            }
            return;
        }
        String[] kinds = {"short", "ushort", "long", "ulong", "longlong", "ulonglong", "char", "boolean", "enum"};
        for (String k : kinds) for (int n = 1; n <= 4; n++) {
            Any label = orb.create_any();
            TypeCode disc;
            switch (k) {
                case "short": disc = orb.get_primitive_tc(TCKind.tk_short); label.insert_short((short) 1); break;
                case "ushort": disc = orb.get_primitive_tc(TCKind.tk_ushort); label.insert_ushort((short) 1); break;
                case "long": disc = orb.get_primitive_tc(TCKind.tk_long); label.insert_long(1); break;
                case "ulong": disc = orb.get_primitive_tc(TCKind.tk_ulong); label.insert_ulong(1); break;
                case "longlong": disc = orb.get_primitive_tc(TCKind.tk_longlong); label.insert_longlong(1); break;
                case "ulonglong": disc = orb.get_primitive_tc(TCKind.tk_ulonglong); label.insert_ulonglong(1); break;
                case "char": disc = orb.get_primitive_tc(TCKind.tk_char); label.insert_char('a'); break;
                case "boolean": disc = orb.get_primitive_tc(TCKind.tk_boolean); label.insert_boolean(true); break;
                default: {
                    disc = odd(orb, 1);
                    CDROutputStream o = new CDROutputStream(orb);
                    o.write_long(0);
                    label.read_value(new CDRInputStream(orb, o.getBufferCopy()), disc);
                }
            }
            Any def = orb.create_any();
            def.insert_octet((byte) 0);
            UnionMember[] members = {
                new UnionMember("first", label, odd(orb, n), null),
                new UnionMember("rest", def, orb.get_primitive_tc(TCKind.tk_long), null),
            };
            TypeCode tc = orb.create_union_tc("IDL:Unions/U_" + k + "_" + n + ":1.0", "U_" + k + "_" + n, disc, members);
            CDROutputStream s = new CDROutputStream(orb);
            s.write_TypeCode(tc);
            System.out.println(k + "_" + n + " " + hex(s.getBufferCopy()));
        }
    }
}
