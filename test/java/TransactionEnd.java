// Waits until the markers of an ended transaction are written: it is acknowledged before; used by the producing commands.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** So that a suite that reads right afterwards sees the end, as it would a moment later. */
final class TransactionEnd {
    private static final long WAIT_MS = 120_000;
    private static final Set<TransactionState> ENDING = Set.of(TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT);

    private TransactionEnd() {}

    /**
     * Returns when the coordinator of args.bootstrap calls `id` ended, wherever it moves; at once where it cannot be asked: with
     * a login of the producer's own, and below Kafka 3.0.
     */
    static void await(JsonNode args, String id) throws Exception {
        if (args.path("properties").has("security.protocol")) return;
        long deadline = System.nanoTime() + WAIT_MS * 1_000_000;
        while (isEnding(args, id)) {
            if (System.nanoTime() > deadline) throw new IllegalStateException("the transaction of " + id + " does not end");
            Thread.sleep(5);
        }
    }

    private static boolean isEnding(JsonNode args, String id) throws Exception {
        try {
            return ENDING.contains(state(args, id));
        } catch (ExecutionException error) {
            if (error.getCause() instanceof UnsupportedVersionException) return false;
            if (!(error.getCause() instanceof RetriableException)) throw error;
            if (error.getCause() instanceof TimeoutException) Clients.forgetAdmin(args);
            return true;
        }
    }

    private static TransactionState state(JsonNode args, String id) throws Exception {
        return Clients.admin(args).describeTransactions(List.of(id)).all().get().get(id).state();
    }
}
