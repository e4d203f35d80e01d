// end-transaction: commits or aborts a transaction that `produce` left open; used by suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.producer.KafkaProducer;

/** args: {bootstrap, id, commit: boolean}. Answers true. */
public final class EndTransactionCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        KafkaProducer<byte[], byte[]> producer = Clients.OPEN.remove(args.get("id").asText());
        if (producer == null) throw new IllegalStateException("no open transaction " + args.get("id"));
        try {
            if (args.get("commit").asBoolean()) producer.commitTransaction();
            else producer.abortTransaction();
            TransactionEnd.await(args, args.get("id").asText());
        } finally {
            producer.close(java.time.Duration.ZERO);
        }
        return true;
    }
}
