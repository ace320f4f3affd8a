import io.trino.server.Server;

/** Starts a Trino server of the jars on the class path; the first argument is its version. */
final class StartTrino {
  private StartTrino() {}

  public static void main(String[] arguments) {
    new Server().start(arguments[0]);
  }
}
