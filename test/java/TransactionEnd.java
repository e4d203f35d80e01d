// Waits until the markers of an ended transaction are written: it is acknowledged before; used by the producing commands.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.admin.TransactionState;

/** So that a suite that reads right afterwards sees the end, as it would a moment later. */
final class TransactionEnd {
    private static final long WAIT_MS = 30_000;
    private static final Set<TransactionState> ENDING = Set.of(TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT);

    private TransactionEnd() {}

    /** Returns when the coordinator of args.bootstrap calls `id` ended, or after 30 s. A producer with a login of its own is not waited for. */
    static void await(JsonNode args, String id) throws Exception {
        if (args.path("properties").has("security.protocol")) return;
        long deadline = System.nanoTime() + WAIT_MS * 1_000_000;
        while (ENDING.contains(state(args, id)) && System.nanoTime() < deadline) Thread.sleep(5);
    }

    private static TransactionState state(JsonNode args, String id) throws Exception {
        return Clients.admin(args).describeTransactions(List.of(id)).all().get().get(id).state();
    }
}
