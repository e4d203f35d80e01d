// share-consume: reads a topic as a member of a share group until a number of records is acknowledged; used by the directory suite.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.ShareConsumer;

/** args: {bootstrap, group, topic, count, timeoutMs? (120000), properties?}. Answers the values in the order of their offsets. */
public final class ShareConsumeCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        var properties = Clients.properties(args, java.util.Map.of(
            "group.id", args.get("group").asText(), "max.poll.records", args.get("count").asText()));
        List<String> values = new ArrayList<>();
        long deadline = System.nanoTime() + args.path("timeoutMs").asLong(120_000) * 1_000_000;
        try (ShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(properties)) {
            consumer.subscribe(List.of(args.get("topic").asText()));
            while (values.size() < args.get("count").asInt() && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(record ->
                    values.add(record.offset() + " " + new String(record.value(), StandardCharsets.UTF_8)));
                consumer.commitSync();
            }
        }
        return values;
    }
}
