package peer;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jacorb.ir.RepositoryImpl;
import org.omg.CORBA.ORB;

/**
 * JacORB's interface repository, as {@code org.jacorb.ir.IRServer} starts it: {@code repository CLASSES} serves what the classes of a
 * folder say, which its IDL compiler has made with {@code -ir}, and prints the reference when all of it is loaded.
 */
public final class Repository {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("jacorb.implname", "InterfaceRepository");
        properties.setProperty("OAIAddr", "127.0.0.1");
        properties.setProperty("jacorb.orb.objectKeyMap.InterfaceRepository", "InterfaceRepository/InterfaceRepositoryPOA/IfR");
        ORB orb = ORB.init(new String[0], properties);
        URLClassLoader loader = new URLClassLoader(new URL[] {new File(args[0]).toURI().toURL()});
        Path file = Files.createTempFile("repository", ".ior");
        RepositoryImpl repository = new RepositoryImpl(args[0], file.toString(), loader, orb);
        repository.loadContents();
        System.out.println(Files.readString(file).trim());
        Files.delete(file);
        orb.run();
    }
}
