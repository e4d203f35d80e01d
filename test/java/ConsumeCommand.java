// consume: reads partitions of a topic to their end with assign and digests every record; used by suites to compare.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

/**
 * args: {bootstrap, topic, partitions?: [n] (all), from?: offset or "middle" (beginning), isolation? (read_uncommitted), content?
 * (also give keys, values and headers as text), timeoutMs? (120000), properties?}. Reads until the end offsets at the
 * start of the command. Answers {partition: {start, end, records: [row]}} with row = [offset, timestamp, timestamp
 * type, key digest, value digest, headers digest] and with `content` also key, value and [[header, value]].
 */
public final class ConsumeCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Map<String, String> defaults = Map.of(
            "isolation.level", args.path("isolation").asText("read_uncommitted"),
            "enable.auto.commit", "false",
            "auto.offset.reset", "none",
            "max.poll.records", "5000",
            "fetch.max.bytes", "67108864",
            "max.partition.fetch.bytes", "33554432",
            "fetch.max.wait.ms", "50",
            "default.api.timeout.ms", "60000");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Clients.properties(args, defaults))) {
            List<TopicPartition> partitions = partitionsOf(consumer, args);
            consumer.assign(partitions);
            Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Map<Integer, Map<String, Object>> result = new TreeMap<>();
            Map<TopicPartition, List<Object>> rows = new java.util.HashMap<>();
            for (TopicPartition partition : partitions) {
                consumer.seek(partition, from(args.path("from"), starts.get(partition), ends.get(partition)));
                rows.put(partition, new ArrayList<>());
                result.put(partition.partition(), Map.of(
                    "start", starts.get(partition), "end", ends.get(partition), "records", rows.get(partition)));
            }
            readToEnd(consumer, ends, rows, args);
            return result;
        }
    }

    private static long from(JsonNode wanted, long start, long end) {
        return wanted.asText().equals("middle") ? start + (end - start) / 2 : Math.max(start, wanted.asLong(0));
    }

    private static List<TopicPartition> partitionsOf(KafkaConsumer<byte[], byte[]> consumer, JsonNode args) {
        String topic = args.get("topic").asText();
        List<TopicPartition> partitions = new ArrayList<>();
        if (args.has("partitions")) args.get("partitions").forEach(id -> partitions.add(new TopicPartition(topic, id.asInt())));
        else consumer.partitionsFor(topic).forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
        return partitions;
    }

    private static void readToEnd(
        KafkaConsumer<byte[], byte[]> consumer,
        Map<TopicPartition, Long> ends,
        Map<TopicPartition, List<Object>> rows,
        JsonNode args
    ) throws Exception {
        boolean content = args.path("content").asBoolean(false);
        long deadline = System.nanoTime() + args.path("timeoutMs").asLong(120_000) * 1_000_000;
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            if (System.nanoTime() > deadline) throw new IllegalStateException("not at " + ends + ": " + positions(consumer));
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                if (record.offset() < ends.get(partition)) rows.get(partition).add(row(record, content));
            }
        }
    }

    private static Map<TopicPartition, Long> positions(KafkaConsumer<byte[], byte[]> consumer) {
        Map<TopicPartition, Long> positions = new java.util.HashMap<>();
        consumer.assignment().forEach(partition -> positions.put(partition, consumer.position(partition)));
        return positions;
    }

    private static List<Object> row(ConsumerRecord<byte[], byte[]> record, boolean content) throws Exception {
        MessageDigest headers = MessageDigest.getInstance("SHA-256");
        List<Object> texts = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.update((header.key() + "\u0000" + (header.value() == null ? -1 : header.value().length)).getBytes(StandardCharsets.UTF_8));
            if (header.value() != null) headers.update(header.value());
            texts.add(java.util.Arrays.asList(header.key(), text(header.value())));
        }
        List<Object> row = new ArrayList<>(java.util.Arrays.asList(
            record.offset(), record.timestamp(), record.timestampType().toString(),
            digest(record.key()), digest(record.value()), hex(headers.digest())));
        if (content) row.addAll(java.util.Arrays.asList(text(record.key()), text(record.value()), texts));
        return row;
    }

    private static String digest(byte[] bytes) throws Exception {
        return bytes == null ? null : bytes.length + ":" + hex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest, 0, 8);
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }
}
