// Waits until the markers of an ended transaction are written: it is acknowledged before; used by the producing commands.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** So that a suite that reads right afterwards sees the end, as it would a moment later. */
final class TransactionEnd {
    private static final long WAIT_MS = 120_000;
    /** A broker that was frozen takes itself for the coordinator for a moment, and does not know the id. */
    private static final long UNKNOWN_MS = 20_000;
    private static final Set<TransactionState> ENDING = Set.of(TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT);

    private TransactionEnd() {}

    /**
     * Returns when the coordinator of args.bootstrap calls `id` ended, wherever it moves; at once where it cannot be asked: with
     * a login that the producer alone has, and below Kafka 3.0. An id that no coordinator knows for long is nothing to wait for.
     */
    static void await(JsonNode args, String id) throws Exception {
        if (args.path("properties").has("security.protocol") && !args.has("admin")) return;
        long began = System.nanoTime();
        while (isEnding(args, id, began)) {
            if (isOver(began, WAIT_MS)) throw new IllegalStateException("the transaction of " + id + " does not end");
            Thread.sleep(5);
        }
    }

    private static boolean isOver(long began, long afterMs) {
        return System.nanoTime() - began > afterMs * 1_000_000;
    }

    private static boolean isEnding(JsonNode args, String id, long began) throws Exception {
        try {
            return ENDING.contains(state(args, id));
        } catch (ExecutionException error) {
            if (error.getCause() instanceof UnsupportedVersionException) return false;
            if (error.getCause() instanceof TransactionalIdNotFoundException) return !isOver(began, UNKNOWN_MS);
            if (!(error.getCause() instanceof RetriableException)) throw error;
            if (error.getCause() instanceof TimeoutException) Clients.forgetAdmin(args);
            return true;
        }
    }

    private static TransactionState state(JsonNode args, String id) throws Exception {
        return Clients.admin(args).describeTransactions(List.of(id)).all().get().get(id).state();
    }
}
