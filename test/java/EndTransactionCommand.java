// end-transaction: commits or aborts a transaction that `produce` left open; used by suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.producer.KafkaProducer;

/** args: {id, commit: boolean}. Answers true. */
public final class EndTransactionCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        KafkaProducer<byte[], byte[]> producer = Clients.OPEN.remove(args.get("id").asText());
        if (producer == null) throw new IllegalStateException("no open transaction " + args.get("id"));
        try {
            if (args.get("commit").asBoolean()) producer.commitTransaction();
            else producer.abortTransaction();
        } finally {
            producer.close(java.time.Duration.ZERO);
        }
        return true;
    }
}
