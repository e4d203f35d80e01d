// What happens when a tool of Kafka wants to end the process: the tool ends, the driver lives on; used by Driver and RunToolCommand.
package lockstep;

import java.util.concurrent.atomic.AtomicReference;

/** Thrown out of the tool. An Error, since tools catch exceptions and go on. */
final class ToolExit extends Error {
    private static final ThreadLocal<AtomicReference<ToolExit>> FIRST = new InheritableThreadLocal<>();

    final int status;
    /** What the tool said on ending, or null. */
    final String message;

    private ToolExit(int status, String message) {
        super("a tool exited with " + status + (message == null ? "" : ": " + message));
        this.status = status;
        this.message = message;
    }

    /** Never returns. */
    static void raise(int status, String message) {
        ToolExit exit = new ToolExit(status, message);
        AtomicReference<ToolExit> first = FIRST.get();
        if (first != null) first.compareAndSet(null, exit);
        throw exit;
    }

    /** The first exit that the work or a thread of it asked for, whatever it did afterwards; null for none. */
    static ToolExit during(OutputCapture.Work work) throws Exception {
        AtomicReference<ToolExit> first = new AtomicReference<>();
        FIRST.set(first);
        try {
            work.run();
        } catch (ToolExit exit) {
            first.compareAndSet(null, exit);
        } catch (Exception | Error error) {
            if (first.get() == null) throw error;
        } finally {
            FIRST.remove();
        }
        return first.get();
    }
}
