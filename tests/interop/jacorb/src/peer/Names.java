package peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.omg.CORBA.ORB;
import org.omg.CosNaming.Binding;
import org.omg.CosNaming.BindingHolder;
import org.omg.CosNaming.BindingIteratorHolder;
import org.omg.CosNaming.BindingListHolder;
import org.omg.CosNaming.BindingType;
import org.omg.CosNaming.NameComponent;
import org.omg.CosNaming.NamingContext;
import org.omg.CosNaming.NamingContextExt;
import org.omg.CosNaming.NamingContextExtHelper;
import org.omg.CosNaming.NamingContextExtPackage.InvalidAddress;
import org.omg.CosNaming.NamingContextPackage.AlreadyBound;
import org.omg.CosNaming.NamingContextPackage.InvalidName;
import org.omg.CosNaming.NamingContextPackage.NotEmpty;
import org.omg.CosNaming.NamingContextPackage.NotFound;
import org.omg.CosNaming.NamingContextPackage.NotFoundReason;

/**
 * JacORB as a client of somebody's naming service: {@code names -ORBInitRef NameService=URL} Runs every cell, in an order
 * that leaves the service empty, prints {@code cell NAME ok} or {@code cell NAME FAILED: why} and ends with status 1 if one
 * failed.
 */
public final class Names {
    private final ORB orb;
    private final NamingContextExt root;

    private Names(ORB orb) throws Exception {
        this.orb = orb;
        root = NamingContextExtHelper.narrow(orb.resolve_initial_references("NameService"));
        if (root == null) throw new Failure("no NamingContextExt");
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("jacorb.connection.client.pending_reply_timeout", "30000");
        Names names = new Names(ORB.init(args, properties));
        Named cells = new Named();
        cells.put("objects", names::objects);
        cells.put("contexts", names::contexts);
        cells.put("text", names::text);
        cells.put("iterators", names::iterators);
        System.exit(cells.run(cells.usual()) ? 0 : 1);
    }

    private org.omg.CORBA.Object object(int number) {
        return orb.string_to_object("corbaloc:iiop:1.2@bank.zorb.test:2810/Account" + number);
    }

    private NameComponent[] name(String text) throws Exception {
        return root.to_name(text);
    }

    private void objects() throws Exception {
        root.bind(name("a.kind"), object(1));
        Check.raised(AlreadyBound.class, "bind", () -> root.bind(name("a.kind"), object(2)));
        Check.same("resolve", root.resolve(name("a.kind"))._is_equivalent(object(1)), true);
        root.rebind(name("a.kind"), object(2));
        Check.same("resolve_str", root.resolve_str("a.kind")._is_equivalent(object(2)), true);
        NotFound through = Check.raised(NotFound.class, "resolve", () -> root.resolve(name("a.kind/b/c")));
        Check.same("why", through.why.value(), NotFoundReason.not_context.value());
        Check.same("rest", through.rest_of_name.length, 3);
        NotFound missing = Check.raised(NotFound.class, "unbind", () -> root.unbind(name("b")));
        Check.same("why", missing.why.value(), NotFoundReason.missing_node.value());
        Check.same("rest", missing.rest_of_name[0].id, "b");
        NotFound object = Check.raised(NotFound.class, "rebind_context", () -> root.rebind_context(name("a.kind"), root));
        Check.same("why", object.why.value(), NotFoundReason.not_context.value());
        Check.raised(InvalidName.class, "resolve", () -> root.resolve(new NameComponent[0]));
        org.omg.CORBA.Object url = orb.string_to_object("corbaname:rir:#a.kind");
        Check.same("corbaname", url._is_equivalent(object(2)), true);
        root.unbind(name("a.kind"));
    }

    private void contexts() throws Exception {
        NamingContext below = root.bind_new_context(name("below"));
        NamingContext free = root.new_context();
        root.bind_context(name("below/free"), free);
        root.bind(name("below/free/object"), object(3));
        Check.same("resolve", free.resolve(name("object"))._is_equivalent(object(3)), true);
        NotFound over = Check.raised(NotFound.class, "rebind", () -> root.rebind(name("below"), object(4)));
        Check.same("why", over.why.value(), NotFoundReason.not_object.value());
        Check.raised(NotEmpty.class, "destroy", free::destroy);
        free.unbind(name("object"));
        free.destroy();
        Check.same("non_existent", free._non_existent(), true);
        below.unbind(name("free"));
        root.unbind(name("below"));
        below.destroy();
    }

    private void text() throws Exception {
        String text = "a\\.b.c\\/d/.k/.";
        Check.same("to_name", root.to_name(text).length, 3);
        Check.same("to_string", root.to_string(root.to_name(text)), text);
        Check.raised(InvalidName.class, "to_name", () -> root.to_name("a//b"));
        Check.raised(InvalidAddress.class, "to_url", () -> root.to_url("", "a"));
        Check.same("to_url", root.to_url(":h:1/K", "a b"), "corbaname::h:1/K#a%20b");
    }

    private void iterators() throws Exception {
        TreeSet<String> expected = new TreeSet<>();
        for (int n = 0; n < 100; n++) {
            root.bind(name("n" + n), object(n));
            expected.add("n" + n);
        }
        for (int size : new int[] {0, 1, 30, 99, 100, 1000}) {
            BindingListHolder first = new BindingListHolder();
            BindingIteratorHolder rest = new BindingIteratorHolder();
            root.list(size, first, rest);
            List<Binding> found = new ArrayList<>(List.of(first.value));
            Check.same("list", found.size(), Math.min(size, 100));
            Check.same("iterator", rest.value != null, size < 100);
            if (rest.value != null) {
                BindingHolder one = new BindingHolder();
                Check.same("next_one", rest.value.next_one(one), true);
                found.add(one.value);
                BindingListHolder some = new BindingListHolder();
                while (rest.value.next_n(17, some)) found.addAll(List.of(some.value));
                Check.same("next_one", rest.value.next_one(one), false);
                rest.value.destroy();
                Check.same("non_existent", rest.value._non_existent(), true);
            }
            TreeSet<String> ids = new TreeSet<>();
            for (Binding binding : found) {
                Check.same("type", binding.binding_type.value(), BindingType.nobject.value());
                ids.add(binding.binding_name[0].id);
            }
            Check.same("names", ids, expected);
            Check.same("each once", found.size(), 100);
        }
        for (String id : expected) root.unbind(name(id));
    }
}
