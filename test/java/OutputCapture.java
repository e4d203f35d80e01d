// Takes over System.out so that what Kafka's tools print can be captured, and nothing else reaches the answers; used by Driver.
package lockstep;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** One capture at a time; outside of captures what is printed goes to standard error. */
final class OutputCapture extends OutputStream {
    private static final OutputCapture INSTANCE = new OutputCapture();
    private static final PrintStream ELSEWHERE = System.err;

    private volatile OutputStream target = ELSEWHERE;

    private OutputCapture() {}

    /** Must run before Scala's Console is loaded, since that remembers System.out for good. */
    static void install() {
        System.setOut(new PrintStream(INSTANCE, true, StandardCharsets.UTF_8));
    }

    interface Work {
        void run() throws Exception;
    }

    /** What the work prints to standard output; other captures wait. */
    static synchronized String of(Work work) throws Exception {
        ByteArrayOutputStream captured = new ByteArrayOutputStream();
        INSTANCE.target = captured;
        try {
            work.run();
        } finally {
            System.out.flush();
            INSTANCE.target = ELSEWHERE;
        }
        return captured.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void write(int value) throws java.io.IOException {
        target.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws java.io.IOException {
        target.write(bytes, offset, length);
    }
}
