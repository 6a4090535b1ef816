package peer;

import java.nio.charset.StandardCharsets;
import org.jacorb.security.sas.GssUpContext;
import org.omg.CORBA.ORB;
import org.omg.IOP.Codec;

/** GSSUP with a rule: the password is "secret of " and the first letters of the user's name. JacORB's own takes any password. */
public final class Passwords extends GssUpContext {
    static final String BEFORE = "secret of ";
    /** Letters of the name in its password. */
    static final int LETTERS = 8;

    @Override
    public boolean validateContext(ORB orb, Codec codec, byte[] token) {
        if (!super.validateContext(orb, codec, token)) return false;
        String user = new String(initialContextToken.username, StandardCharsets.ISO_8859_1);
        String password = new String(initialContextToken.password, StandardCharsets.ISO_8859_1);
        return password.equals(BEFORE + user.substring(0, Math.min(LETTERS, user.length())));
    }
}
