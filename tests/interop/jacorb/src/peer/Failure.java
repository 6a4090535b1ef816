package peer;

/** A check that did not hold. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    Failure(String why) {
        super(why);
    }
}
