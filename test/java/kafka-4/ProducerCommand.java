// producer: one operation of a Java producer that lives between commands; used by the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * args: {id, op, ...}. op: `open` {bootstrap, properties?}, `init`, `begin`, `send` {topic, partition?, records as in
 * RecordSource, noFlush?}: answers one [partition, offset] or {error} per record, `offsets` {offsets: {"topic-0": n},
 * group, member?, generation?, instance? or consumer: id of a consumer}, `commit`, `abort`, `flush`, `partitions`
 * {topic}, `close`. Answers "ok" unless something is said here.
 */
public final class ProducerCommand implements Command {
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new ConcurrentHashMap<>();

    @Override
    public Object run(JsonNode args) throws Exception {
        String id = args.get("id").asText();
        String op = args.get("op").asText();
        if (op.equals("open")) {
            producers.put(id, new KafkaProducer<>(Clients.properties(args, defaults())));
            return "ok";
        }
        KafkaProducer<byte[], byte[]> producer = producers.get(id);
        if (producer == null) throw new IllegalStateException("no producer " + id);
        switch (op) {
            case "init" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "send" -> {
                return send(producer, args);
            }
            case "offsets" -> producer.sendOffsetsToTransaction(offsets(args.get("offsets")), group(args));
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "flush" -> producer.flush();
            case "partitions" -> {
                return producer.partitionsFor(args.get("topic").asText()).size();
            }
            case "close" -> producers.remove(id).close(Duration.ofSeconds(args.path("seconds").asInt(0)));
            default -> throw new IllegalArgumentException(op);
        }
        return "ok";
    }

    private static Map<String, String> defaults() {
        Map<String, String> defaults = new HashMap<>();
        defaults.put("linger.ms", "20");
        defaults.put("max.block.ms", "60000");
        defaults.put("request.timeout.ms", "30000");
        defaults.put("delivery.timeout.ms", "120000");
        return defaults;
    }

    private static List<Object> send(KafkaProducer<byte[], byte[]> producer, JsonNode args) throws Exception {
        Integer partition = args.has("partition") ? args.get("partition").asInt() : null;
        List<Object> sent = new ArrayList<>();
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (var record : RecordSource.of(args)) {
            futures.add(producer.send(new ProducerRecord<>(
                args.get("topic").asText(), partition, record.timestamp(), record.key(), record.value(), record.headers())));
        }
        if (args.path("noFlush").asBoolean()) return sent;
        producer.flush();
        for (var future : futures) {
            try {
                RecordMetadata metadata = future.get();
                sent.add(List.of(metadata.partition(), metadata.offset()));
            } catch (ExecutionException failed) {
                sent.add(Outcome.of(failed.getCause()));
            }
        }
        return sent;
    }

    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode offsets) {
        Map<TopicPartition, OffsetAndMetadata> parsed = new HashMap<>();
        offsets.fields().forEachRemaining(field -> parsed.put(partition(field.getKey()), offset(field.getValue())));
        return parsed;
    }

    private static OffsetAndMetadata offset(JsonNode value) {
        if (value.isArray()) return new OffsetAndMetadata(value.get(0).asLong(), value.get(1).asText());
        return new OffsetAndMetadata(value.asLong());
    }

    /** "topic-name-3" is partition 3. */
    static TopicPartition partition(String text) {
        int dash = text.lastIndexOf('-');
        return new TopicPartition(text.substring(0, dash), Integer.parseInt(text.substring(dash + 1)));
    }

    private static ConsumerGroupMetadata group(JsonNode args) throws Exception {
        if (args.has("consumer")) return ConsumerCommand.session(args.get("consumer").asText()).groupMetadata();
        if (!args.has("member")) return new ConsumerGroupMetadata(args.get("group").asText());
        return new ConsumerGroupMetadata(
            args.get("group").asText(),
            args.path("generation").asInt(-1),
            args.path("member").asText(""),
            java.util.Optional.ofNullable(args.path("instance").asText(null)));
    }
}
