// share-load: share consumers that go on until they are stopped or die, and a ledger of all they did; used by the suite share-groups.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;

/**
 * args: {op: start, bootstrap, topic, group, ledger, explicit, implicit, seed, properties?} starts so many consumers of each mode,
 * which append to the file `ledger`: "D value count" delivered, "A value" about to be accepted, "C value" accepted for certain,
 * "R value" about to be rejected, "E what" an exception. {op: stop} closes them and answers what ended one before its time.
 */
public final class ShareLoadCommand implements Command {
    private final List<Worker> workers = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private volatile boolean stopped;

    @Override
    public Object run(JsonNode args) throws Exception {
        if (args.get("op").asText().equals("stop")) return stop();
        FileOutputStream ledger = new FileOutputStream(args.get("ledger").asText(), true);
        int explicit = args.get("explicit").asInt();
        int all = explicit + args.get("implicit").asInt();
        for (int index = 0; index < all; index++) {
            Worker worker = new Worker(args, index < explicit, new Random(args.get("seed").asLong() + index), ledger);
            workers.add(worker);
            worker.start();
        }
        return true;
    }

    private synchronized List<String> stop() throws InterruptedException {
        stopped = true;
        for (Worker worker : workers) worker.join();
        return faults;
    }

    private final class Worker extends Thread {
        private final JsonNode args;
        private final boolean explicit;
        private final Random random;
        private final FileOutputStream ledger;

        Worker(JsonNode args, boolean explicit, Random random, FileOutputStream ledger) {
            super("share consumer");
            setDaemon(true);
            this.args = args;
            this.explicit = explicit;
            this.random = random;
            this.ledger = ledger;
        }

        @Override
        public void run() {
            Map<String, String> defaults = Map.of(
                "group.id", args.get("group").asText(),
                "share.acknowledgement.mode", explicit ? "explicit" : "implicit",
                "max.poll.records", String.valueOf(1 + random.nextInt(20)),
                "fetch.max.wait.ms", "300",
                "metadata.max.age.ms", "2000");
            try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(Clients.properties(args, defaults))) {
                consumer.subscribe(List.of(args.get("topic").asText()));
                while (!stopped) step(consumer);
            } catch (Throwable error) {
                synchronized (ShareLoadCommand.this) {
                    faults.add(error.toString());
                }
            }
        }

        private void step(KafkaShareConsumer<byte[], byte[]> consumer) throws Exception {
            Map<TopicIdPartition, List<String>> accepted = new HashMap<>();
            try {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(300));
                StringBuilder lines = new StringBuilder();
                Map<String, List<String>> byPlace = new HashMap<>();
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    String value = new String(record.value(), StandardCharsets.UTF_8);
                    lines.append("D ").append(value).append(' ').append(record.deliveryCount().orElse((short) -1)).append('\n');
                    AcknowledgeType type = explicit ? choice() : AcknowledgeType.ACCEPT;
                    if (type == AcknowledgeType.ACCEPT) {
                        lines.append("A ").append(value).append('\n');
                        byPlace.computeIfAbsent(record.topic() + record.partition(), place -> new ArrayList<>()).add(value);
                    }
                    if (type == AcknowledgeType.REJECT) lines.append("R ").append(value).append('\n');
                    if (explicit) consumer.acknowledge(record, type);
                }
                write(lines.toString());
                Map<TopicIdPartition, Optional<KafkaException>> results = consumer.commitSync();
                results.forEach((partition, error) -> {
                    if (error.isEmpty()) accepted.put(partition, byPlace.getOrDefault(partition.topic() + partition.partition(), List.of()));
                });
            } catch (KafkaException error) {
                write("E " + error + "\n");
            }
            StringBuilder lines = new StringBuilder();
            accepted.values().forEach(values -> values.forEach(value -> lines.append("C ").append(value).append('\n')));
            write(lines.toString());
        }

        private AcknowledgeType choice() {
            int chance = random.nextInt(100);
            if (chance < 85) return AcknowledgeType.ACCEPT;
            return chance < 98 ? AcknowledgeType.RELEASE : AcknowledgeType.REJECT;
        }

        /** One write, so that a line is there as a whole or not at all, whatever becomes of this process. */
        private void write(String lines) throws Exception {
            if (!lines.isEmpty()) ledger.write(lines.getBytes(StandardCharsets.UTF_8));
        }
    }
}
