// A client of the crash workload: commits ascending offsets, as a member of its group or alone; run by CrashLoadCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;

/** As a member it reads the plain topic in the group `members` and commits its positions; alone it counts up in `alone`. */
record CrashCommitter(JsonNode args, boolean member, CrashLedger ledger) implements CrashLoadCommand.Client {
    @Override
    public void live() throws Exception {
        String group = member ? "members" : "alone";
        String topic = args.get("plainTopic").asText();
        Map<String, String> own = Map.of(
            "group.id", group,
            "enable.auto.commit", "false",
            "auto.offset.reset", "earliest",
            "session.timeout.ms", "10000");
        var properties = Clients.properties(args, CrashLoadCommand.patient(own));
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
            if (member) consumer.subscribe(List.of(topic));
            for (long count = 1; ledger.running(); count++) {
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                if (member) {
                    consumer.poll(Duration.ofMillis(50)).nextOffsets().forEach(offsets::put);
                } else offsets.put(new TopicPartition(topic, 0), new OffsetAndMetadata(count));
                commit(consumer, group, offsets);
                Thread.sleep(20);
            }
        }
    }

    private void commit(KafkaConsumer<?, ?> consumer, String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        if (offsets.isEmpty()) return;
        try {
            consumer.commitSync(offsets);
        } catch (CommitFailedException | RebalanceInProgressException | RetriableException unanswered) {
            return;
        }
        offsets.forEach((partition, offset) -> ledger.offset(group, partition.toString(), offset.offset()));
    }
}
