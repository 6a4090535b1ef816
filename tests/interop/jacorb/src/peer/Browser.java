package peer;

import java.util.Enumeration;
import javax.swing.tree.DefaultMutableTreeNode;
import javax.swing.tree.DefaultTreeModel;
import org.jacorb.ir.gui.typesystem.ModelParticipant;
import org.jacorb.ir.gui.typesystem.TypeSystemNode;
import org.jacorb.ir.gui.typesystem.remote.RemoteTypeSystem;

/**
 * What JacORB's browser of interface repositories, {@code org.jacorb.ir.gui.IRBrowser}, shows of one, without its window:
 * {@code browser REFERENCE} opens every node of its tree and prints each.
 */
public final class Browser {
    public static void main(String[] args) throws Exception {
        DefaultTreeModel model = new RemoteTypeSystem(args[0]).createTreeModelRoot();
        show(model, (DefaultMutableTreeNode) model.getRoot(), 0);
        System.exit(0);
    }

    private static void show(DefaultTreeModel model, DefaultMutableTreeNode node, int depth) {
        Object of = node.getUserObject();
        if (of instanceof ModelParticipant) {
            ((ModelParticipant) of).expand(model);
        }
        String what = of instanceof TypeSystemNode ? ((TypeSystemNode) of).getAbsoluteName() : String.valueOf(of);
        System.out.println(depth + " " + what);
        for (Enumeration<?> inner = node.children(); inner.hasMoreElements();) {
            show(model, (DefaultMutableTreeNode) inner.nextElement(), depth + 1);
        }
    }
}
