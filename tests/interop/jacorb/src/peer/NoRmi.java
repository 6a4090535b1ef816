package peer;

import java.rmi.Remote;
import java.rmi.RemoteException;
import javax.rmi.CORBA.Stub;
import javax.rmi.CORBA.Tie;
import javax.rmi.CORBA.UtilDelegate;
import javax.rmi.CORBA.ValueHandler;
import org.omg.CORBA.NO_IMPLEMENT;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;

/**
 * What JacORB asks about Java's own valuetypes, of which there are none here. It asks even about those of an IDL, for a
 * repository id that it then does not use; and the library that would answer needs Java 8.
 */
public final class NoRmi implements UtilDelegate {
    private static final NO_IMPLEMENT NONE = new NO_IMPLEMENT("no RMI here");

    /** Says that no class but a string's is special. */
    private static final class Classes implements ValueHandler {
        @Override
        public String getRMIRepositoryID(Class type) {
            return "RMI:" + type.getName() + ":0000000000000000";
        }

        @Override
        public boolean isCustomMarshaled(Class type) {
            return false;
        }

        @Override
        public void writeValue(OutputStream out, java.io.Serializable value) {
            throw NONE;
        }

        @Override
        public java.io.Serializable readValue(InputStream in, int offset, Class type, String id,
                org.omg.SendingContext.RunTime sender) {
            throw NONE;
        }

        @Override
        public org.omg.SendingContext.RunTime getRunTimeCodeBase() {
            return null;
        }

        @Override
        public java.io.Serializable writeReplace(java.io.Serializable value) {
            return value;
        }
    }

    @Override
    public ValueHandler createValueHandler() {
        return new Classes();
    }

    @Override
    public String getCodebase(Class type) {
        return null;
    }

    @Override
    public Class loadClass(String name, String codebase, ClassLoader loader) throws ClassNotFoundException {
        return Class.forName(name);
    }

    @Override
    public boolean isLocal(Stub stub) {
        return false;
    }

    @Override
    public RemoteException mapSystemException(SystemException e) {
        return new RemoteException("CORBA", e);
    }

    @Override
    public RemoteException wrapException(Throwable e) {
        return new RemoteException("CORBA", e);
    }

    @Override
    public void writeAny(OutputStream out, Object any) {
        throw NONE;
    }

    @Override
    public Object readAny(InputStream in) {
        throw NONE;
    }

    @Override
    public void writeRemoteObject(OutputStream out, Object object) {
        throw NONE;
    }

    @Override
    public void writeAbstractObject(OutputStream out, Object object) {
        throw NONE;
    }

    @Override
    public void registerTarget(Tie tie, Remote target) {
        throw NONE;
    }

    @Override
    public void unexportObject(Remote target) {
        throw NONE;
    }

    @Override
    public Tie getTie(Remote target) {
        throw NONE;
    }

    @Override
    public Object copyObject(Object object, ORB orb) {
        throw NONE;
    }

    @Override
    public Object[] copyObjects(Object[] objects, ORB orb) {
        throw NONE;
    }
}
