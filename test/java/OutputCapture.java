// Takes over System.out and System.err so that what Kafka's tools print can be captured; used by Driver and commands.
package lockstep;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** One capture at a time; outside of captures everything goes to standard error, since answers own standard output. */
final class OutputCapture extends OutputStream {
    private static final PrintStream ELSEWHERE = System.err;
    private static final OutputCapture OUT = new OutputCapture();
    private static final OutputCapture ERR = new OutputCapture();

    private volatile OutputStream target = ELSEWHERE;

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

    /** What the work prints; other captures wait. */
    static synchronized Printed of(Work work) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        OUT.target = out;
        ERR.target = err;
        try {
            work.run();
        } finally {
            System.out.flush();
            System.err.flush();
            OUT.target = ELSEWHERE;
            ERR.target = ELSEWHERE;
        }
        return new Printed(out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    @Override
    public void write(int value) throws IOException {
        target.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        target.write(bytes, offset, length);
    }

    @Override
    public void flush() throws IOException {
        target.flush();
    }
}
