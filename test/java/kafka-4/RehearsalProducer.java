// A producer of a rehearsal: writes bursts to its topics until it is stopped, or until its cluster is given up; run by RehearsalLoadCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * plan: {name, kind: idempotent | plain | transactional | held, topics: [[name, partitions]], valueBytes, keys (0: none), codec, burst,
 * pauseMs, records? (then it ends by itself)}. `held` leaves one transaction open until it is stopped. Every record names itself
 * in a header. With keys, one record in twenty is a tombstone.
 */
final class RehearsalProducer implements Runnable {
    private final JsonNode args;
    private final JsonNode plan;
    private final RehearsalLedger ledger;
    private final Random random;
    private final String prefix;
    private volatile boolean stopping;
    private volatile boolean abandoned;
    private volatile KafkaProducer<byte[], byte[]> producer;
    volatile Throwable failure;
    private long count;
    /** Of those; they do not count for whoever is to read the topic. */
    private long aborted;

    RehearsalProducer(JsonNode args, JsonNode plan, RehearsalLedger ledger) {
        this.args = args;
        this.plan = plan;
        this.ledger = ledger;
        this.prefix = args.get("session").asText() + "/" + plan.get("name").asText() + "/";
        this.random = new Random(args.path("seed").asLong(1) + prefix.hashCode());
    }

    /** It ends what it has begun. */
    void stop() {
        stopping = true;
    }

    /** Its cluster is gone: nothing is waited for. */
    void abandon() {
        abandoned = true;
        stopping = true;
        if (producer != null) producer.close(Duration.ZERO);
    }

    @Override
    public void run() {
        try (KafkaProducer<byte[], byte[]> opened = new KafkaProducer<>(Clients.properties(args, properties()))) {
            producer = opened;
            if (isTransactional()) opened.initTransactions();
            long wanted = plan.path("records").asLong(Long.MAX_VALUE);
            while (!stopping && count - aborted < wanted) {
                if (isTransactional()) transaction(opened);
                else burst(opened, null);
                Thread.sleep(random.nextInt(1 + plan.path("pauseMs").asInt(40)));
            }
            opened.flush();
        } catch (Throwable error) {
            if (!abandoned) failure = error;
        }
    }

    private boolean isTransactional() {
        return kind().equals("transactional") || kind().equals("held");
    }

    private String kind() {
        return plan.get("kind").asText();
    }

    private Map<String, String> properties() {
        Map<String, String> properties = new HashMap<>(Map.of(
            "linger.ms", "5",
            "max.request.size", "20000000",
            "compression.type", plan.get("codec").asText(),
            "request.timeout.ms", "20000",
            "delivery.timeout.ms", "120000",
            "max.block.ms", "120000",
            "reconnect.backoff.max.ms", "500"));
        if (kind().equals("plain")) properties.putAll(Map.of("acks", "1", "enable.idempotence", "false"));
        else properties.put("acks", "all");
        if (isTransactional()) {
            properties.put("transactional.id", "app-" + plan.get("name").asText());
            properties.put("transaction.timeout.ms", "600000");
        }
        return properties;
    }

    private void transaction(KafkaProducer<byte[], byte[]> opened) throws Exception {
        RehearsalLedger.Transaction transaction = ledger.begin();
        long before = count;
        opened.beginTransaction();
        burst(opened, transaction);
        if (kind().equals("held")) while (!stopping) Thread.sleep(20);
        if (abandoned) return;
        if (random.nextInt(5) == 0 && !kind().equals("held")) {
            ledger.end(transaction, RehearsalLedger.End.ABORTED);
            opened.abortTransaction();
            aborted += count - before;
            return;
        }
        ledger.end(transaction, RehearsalLedger.End.UNKNOWN);
        opened.commitTransaction();
        ledger.end(transaction, RehearsalLedger.End.COMMITTED);
    }

    private void burst(KafkaProducer<byte[], byte[]> opened, RehearsalLedger.Transaction transaction) {
        List<Throwable> failures = new ArrayList<>();
        for (int left = 1 + random.nextInt(plan.get("burst").asInt()); left > 0; left--) send(opened, transaction, failures);
        opened.flush();
        synchronized (failures) {
            if (!failures.isEmpty()) throw new IllegalStateException("not acknowledged", failures.get(0));
        }
    }

    private void send(KafkaProducer<byte[], byte[]> opened, RehearsalLedger.Transaction transaction, List<Throwable> failures) {
        JsonNode topic = plan.get("topics").get(random.nextInt(plan.get("topics").size()));
        int partition = random.nextInt(topic.get(1).asInt());
        int keys = plan.path("keys").asInt(0);
        String id = prefix + count++;
        String key = keys == 0 ? null : "key-" + random.nextInt(keys);
        byte[] value = key != null && random.nextInt(20) == 0 ? null : value();
        List<Header> headers = List.of(new RecordHeader("id", id.getBytes(StandardCharsets.UTF_8)));
        byte[] keyBytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
        var record = new ProducerRecord<>(topic.get(0).asText(), partition, null, keyBytes, value, headers);
        opened.send(record, (place, error) -> {
            if (error == null) {
                var at = new TopicPartition(place.topic(), place.partition());
                ledger.add(new RehearsalLedger.Entry(
                    at, place.offset(), id, key, checksum(value), System.currentTimeMillis(), transaction));
            } else synchronized (failures) {
                failures.add(error);
            }
        });
    }

    /** Printable, and half of it compresses well. */
    private byte[] value() {
        byte[] value = new byte[1 + random.nextInt(plan.get("valueBytes").asInt())];
        random.nextBytes(value);
        for (int index = 0; index < value.length / 2; index++) value[index] = (byte) ('0' + (value[index] & 63));
        for (int index = value.length / 2; index < value.length; index++) value[index] = (byte) ('a' + index % 20);
        return value;
    }

    static long checksum(byte[] value) {
        if (value == null) return -1;
        CRC32 checksum = new CRC32();
        checksum.update(value);
        return checksum.getValue();
    }
}
