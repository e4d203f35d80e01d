// share-consumer: one operation of a Java share consumer that lives between commands; used by the suites of share groups.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;

/**
 * args: {id, op, ...}. `open` {bootstrap, properties}, `subscribe` {topics}, `take` {count, as? (accept, release, reject), seconds? (60)}:
 * polls until it has had so many records, acknowledges each batch and answers [partition, offset, value, delivery count] in the order of
 * partitions and offsets; fewer if there are no more in that time. `close`.
 */
public final class ShareConsumerCommand implements Command {
    private static final Map<String, KafkaShareConsumer<byte[], byte[]>> CONSUMERS = new ConcurrentHashMap<>();

    @Override
    public Object run(JsonNode args) throws Exception {
        String id = args.get("id").asText();
        if (args.get("op").asText().equals("open")) {
            CONSUMERS.put(id, new KafkaShareConsumer<>(Clients.properties(args, Map.of(
                "share.acknowledgement.mode", "explicit",
                "fetch.max.wait.ms", "50",
                "retry.backoff.ms", "50",
                "reconnect.backoff.ms", "50",
                "metadata.max.age.ms", "1000"))));
            return "ok";
        }
        var consumer = CONSUMERS.get(id);
        if (consumer == null) throw new IllegalStateException("no share consumer " + id);
        switch (args.get("op").asText()) {
            case "subscribe" -> consumer.subscribe(Outcome.texts(args.get("topics")));
            case "take" -> {
                return take(consumer, args);
            }
            case "close" -> {
                CONSUMERS.remove(id);
                consumer.close();
            }
            default -> throw new IllegalArgumentException(args.get("op").asText());
        }
        return "ok";
    }

    private static List<Object> take(KafkaShareConsumer<byte[], byte[]> consumer, JsonNode args) {
        AcknowledgeType type = AcknowledgeType.valueOf(args.path("as").asText("accept").toUpperCase());
        long deadline = System.nanoTime() + args.path("seconds").asLong(60) * 1_000_000_000;
        List<List<Object>> rows = new ArrayList<>();
        while (rows.size() < args.get("count").asInt() && System.nanoTime() < deadline) {
            consumer.poll(Duration.ofMillis(100)).forEach(record -> {
                consumer.acknowledge(record, type);
                Optional<Short> deliveries = record.deliveryCount();
                rows.add(Arrays.asList(record.topic() + "-" + record.partition(), record.offset(),
                    new String(record.value(), StandardCharsets.UTF_8), deliveries.map(Short::intValue).orElse(-1)));
            });
            consumer.commitSync();
        }
        rows.sort((a, b) -> {
            int byPlace = a.get(0).toString().compareTo(b.get(0).toString());
            return byPlace != 0 ? byPlace : Long.compare((Long) a.get(1), (Long) b.get(1));
        });
        return List.copyOf(rows);
    }
}
