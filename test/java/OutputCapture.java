// Takes over System.out and System.err so that what Kafka's tools print can be captured; used by Driver and commands.
package lockstep;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * A capture belongs to the thread that works and to those that it starts, so that captures run side by side; outside of
 * captures everything goes to standard error, since answers own standard output.
 */
final class OutputCapture extends OutputStream {
    private static final PrintStream ELSEWHERE = System.err;
    private static final OutputCapture OUT = new OutputCapture();
    private static final OutputCapture ERR = new OutputCapture();

    private final ThreadLocal<OutputStream> target = new InheritableThreadLocal<>();

    private OutputCapture() {}

    /** Must run before Scala's Console is loaded, since that remembers the streams for good. */
    static void install() {
        System.setOut(new PrintStream(OUT, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERR, true, StandardCharsets.UTF_8));
    }

    interface Work {
        void run() throws Exception;
    }

    /** What was printed to the two streams. */
    record Printed(String out, String err) {}

    /** What the work prints. */
    static Printed of(Work work) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        try {
            during(out, err, work);
        } finally {
            System.out.flush();
            System.err.flush();
        }
        return new Printed(out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** Lets the work print into the two streams. */
    static void during(OutputStream out, OutputStream err, Work work) throws Exception {
        OUT.target.set(out);
        ERR.target.set(err);
        try {
            work.run();
        } finally {
            OUT.target.remove();
            ERR.target.remove();
        }
    }

    private OutputStream target() {
        OutputStream captured = target.get();
        return captured == null ? ELSEWHERE : captured;
    }

    @Override
    public void write(int value) throws IOException {
        target().write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        target().write(bytes, offset, length);
    }

    @Override
    public void flush() throws IOException {
        target().flush();
    }
}
