// What the clients of the crash workload were promised; filled by them, answered by CrashLoadCommand.
package lockstep;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Safe for several threads. */
final class CrashLedger {
    private final List<Object> written = new ArrayList<>();
    private final List<Object> committed = new ArrayList<>();
    private final List<Object> aborted = new ArrayList<>();
    private final List<Object> unknown = new ArrayList<>();
    private final Map<String, Map<String, Long>> offsets = new TreeMap<>();
    private boolean running = true;
    private boolean paused = false;
    private Throwable failure;

    /** Whether a client is to begin something new; waits while there is a pause. */
    synchronized boolean running() throws InterruptedException {
        while (paused) wait();
        return running;
    }

    synchronized void pause(boolean paused) {
        this.paused = paused;
        notifyAll();
    }

    synchronized void stop() {
        running = false;
        pause(false);
    }

    synchronized void fail(Throwable error) {
        if (failure == null) failure = error;
        stop();
    }

    synchronized Throwable failure() {
        return failure;
    }

    /** A plain record was acknowledged. */
    synchronized void wrote(String value, int partition, long offset) {
        written.add(List.of(value, partition, offset));
    }

    /** A transaction of these values ended: `committed`, `aborted`, or `unknown` where nobody said which. */
    synchronized void ended(String outcome, List<String> values) {
        (outcome.equals("committed") ? committed : outcome.equals("aborted") ? aborted : unknown).add(values);
    }

    /** A commit of an offset was acknowledged. */
    synchronized void offset(String group, String partition, long offset) {
        offsets.computeIfAbsent(group, name -> new TreeMap<>()).merge(partition, offset, Math::max);
    }

    /** {written: [[value, partition, offset]], committed, aborted, unknown: [[value]], offsets: {group: {partition: offset}}} */
    synchronized Map<String, Object> promises() {
        Map<String, Object> promises = new LinkedHashMap<>();
        promises.put("written", List.copyOf(written));
        promises.put("committed", List.copyOf(committed));
        promises.put("aborted", List.copyOf(aborted));
        promises.put("unknown", List.copyOf(unknown));
        promises.put("offsets", offsetsNow());
        return promises;
    }

    /** {count: how many ends and acknowledgements there are, offsets: as above} */
    synchronized Map<String, Object> progress() {
        return Map.of("count", written.size() + committed.size() + aborted.size(), "offsets", offsetsNow());
    }

    private Map<String, Object> offsetsNow() {
        Map<String, Object> copies = new TreeMap<>();
        offsets.forEach((group, acknowledged) -> copies.put(group, Map.copyOf(acknowledged)));
        return copies;
    }
}
