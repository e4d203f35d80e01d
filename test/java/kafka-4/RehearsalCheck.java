// Reads topics to their end as a reader of committed records and compares them with ledgers; run by RehearsalLoadCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Answers {sessions: {name: {topic: {promised, lost, firstLostMs (null: nothing is lost), compacted, wrong, moved}}}, transactions:
 * {session: {whole, lost, torn}}, uncommitted: how many records of transactions that were not committed are visible, repeated,
 * strange, visible: {partition: [[first, last]]}, ends: {partition: offset}, examples}. `starts`: what lies below was deleted on
 * purpose; `ends`: what sessions other than `own` have there or above cannot be here.
 */
final class RehearsalCheck {
    private record Seen(long offset, String id, String key, long checksum) {}

    private final JsonNode args;
    private final Map<String, RehearsalLedger> ledgers;
    private final Map<TopicPartition, Map<Long, Seen>> seen = new HashMap<>();
    private final Map<TopicPartition, Map<String, Long>> lastOfKey = new HashMap<>();
    private final Map<String, Object> ends = new TreeMap<>();
    private final List<String> examples = new ArrayList<>();

    RehearsalCheck(JsonNode args, Map<String, RehearsalLedger> ledgers) {
        this.args = args;
        this.ledgers = ledgers;
    }

    Object run() throws Exception {
        read();
        Map<String, Object> sessions = new LinkedHashMap<>();
        Map<String, Object> transactions = new LinkedHashMap<>();
        Map<String, RehearsalLedger.Entry> known = new HashMap<>();
        for (var ledger : ledgers.entrySet()) {
            boolean foreign = !ledger.getKey().equals(args.path("own").asText());
            known.putAll(ledger.getValue().entries());
            sessions.put(ledger.getKey(), judge(ledger.getValue(), foreign));
            transactions.put(ledger.getKey(), judgeTransactions(ledger.getValue(), foreign));
        }
        Map<String, Object> answer = new LinkedHashMap<>(strangers(known));
        answer.put("sessions", sessions);
        answer.put("transactions", transactions);
        answer.put("visible", visible());
        answer.put("ends", ends);
        answer.put("examples", examples);
        return answer;
    }

    private void read() throws Exception {
        Map<String, String> defaults = Map.of(
            "isolation.level", "read_committed",
            "enable.auto.commit", "false",
            "auto.offset.reset", "none",
            "max.poll.records", "5000",
            "max.partition.fetch.bytes", "33554432",
            "fetch.max.wait.ms", "50");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Clients.properties(args, defaults))) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (JsonNode topic : args.get("topics")) {
                consumer.partitionsFor(topic.asText()).forEach(info -> partitions.add(new TopicPartition(info.topic(), info.partition())));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            // As a reader of committed records: these are last stable offsets.
            Map<TopicPartition, Long> last = consumer.endOffsets(partitions);
            last.forEach((partition, offset) -> ends.put(partition.toString(), offset));
            long deadline = System.nanoTime() + args.path("timeoutMs").asLong(120_000) * 1_000_000;
            while (last.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                if (System.nanoTime() > deadline) throw new IllegalStateException("a reader of committed records is stuck");
                consumer.poll(Duration.ofMillis(100)).forEach(this::note);
            }
        }
    }

    private void note(ConsumerRecord<byte[], byte[]> record) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        String id = new String(record.headers().lastHeader("id").value(), StandardCharsets.UTF_8);
        String key = record.key() == null ? null : new String(record.key(), StandardCharsets.UTF_8);
        Seen here = new Seen(record.offset(), id, key, RehearsalProducer.checksum(record.value()));
        seen.computeIfAbsent(partition, any -> new TreeMap<>()).put(record.offset(), here);
        if (key != null) lastOfKey.computeIfAbsent(partition, any -> new HashMap<>()).put(key, record.offset());
    }

    private boolean isHere(RehearsalLedger.Entry entry) {
        Seen here = seen.getOrDefault(entry.partition(), Map.of()).get(entry.offset());
        return here != null && here.id().equals(entry.id());
    }

    /** Missing, and rightly so: deleted, or followed by a later record of its key. */
    private boolean isGone(RehearsalLedger.Entry entry, boolean foreign) {
        String partition = entry.partition().toString();
        if (foreign && entry.offset() >= args.path("ends").path(partition).asLong(Long.MAX_VALUE)) return false;
        if (entry.offset() < args.path("starts").path(partition).asLong(0)) return true;
        if (!isCompacted(entry.partition().topic())) return false;
        return lastOfKey.getOrDefault(entry.partition(), Map.of()).getOrDefault(entry.key(), -1L) > entry.offset();
    }

    private boolean isCompacted(String topic) {
        for (JsonNode name : args.path("compacted")) if (name.asText().equals(topic)) return true;
        return false;
    }

    private Map<String, Object> judge(RehearsalLedger ledger, boolean foreign) {
        Map<String, Map<String, Long>> topics = new TreeMap<>();
        for (var entry : ledger.entries().values()) {
            if (!entry.promised()) continue;
            Map<String, Long> row = topics.computeIfAbsent(entry.partition().topic(), any -> new TreeMap<>(
                Map.of("promised", 0L, "lost", 0L, "compacted", 0L, "wrong", 0L)));
            row.merge("promised", 1L, Long::sum);
            if (isHere(entry)) {
                if (seen.get(entry.partition()).get(entry.offset()).checksum() == entry.checksum()) continue;
                row.merge("wrong", 1L, Long::sum);
                example("another value: " + entry.id());
            } else if (isGone(entry, foreign)) row.merge("compacted", 1L, Long::sum);
            else {
                row.merge("lost", 1L, Long::sum);
                row.merge("firstLostMs", entry.promisedMs(), Math::min);
                example("lost: " + entry.id() + " at " + entry.partition() + " " + entry.offset());
            }
        }
        return new TreeMap<>(topics);
    }

    private Map<String, Object> judgeTransactions(RehearsalLedger ledger, boolean foreign) {
        Map<String, Object> counts = new TreeMap<>();
        for (var transaction : ledger.transactions()) {
            boolean committed = transaction.end == RehearsalLedger.End.COMMITTED;
            if (!committed && transaction.end != RehearsalLedger.End.UNKNOWN) continue;
            long here = transaction.entries.stream().filter(this::isHere).count();
            long gone = transaction.entries.stream().filter(entry -> !isHere(entry) && isGone(entry, foreign)).count();
            long all = transaction.entries.size();
            String fate = here + gone == all ? "whole" : here == 0 ? committed ? "lost" : "notCommitted" : "torn";
            counts.merge(fate, 1, (a, b) -> (Integer) a + (Integer) b);
        }
        return counts;
    }

    /** What is visible and should not be. */
    private Map<String, Object> strangers(Map<String, RehearsalLedger.Entry> known) {
        Set<String> once = new HashSet<>();
        int uncommitted = 0;
        int repeated = 0;
        int unacknowledged = 0;
        for (var records : seen.values()) {
            for (Seen record : records.values()) {
                var entry = known.get(record.id());
                if (!once.add(record.id()) || (entry != null && entry.offset() != record.offset())) {
                    repeated++;
                    example("twice: " + record.id());
                } else if (entry == null) {
                    unacknowledged++;
                    example("never acknowledged: " + record.id());
                } else if (!entry.promised() && entry.transaction().end != RehearsalLedger.End.UNKNOWN) {
                    uncommitted++;
                    example("not committed: " + record.id());
                }
            }
        }
        return Map.of("uncommitted", uncommitted, "repeated", repeated, "unacknowledged", unacknowledged);
    }

    private Map<String, Object> visible() {
        Map<String, Object> runs = new TreeMap<>();
        seen.forEach((partition, records) -> {
            OffsetRuns offsets = new OffsetRuns();
            records.keySet().forEach(offsets::add);
            runs.put(partition.toString(), offsets.runs());
        });
        return runs;
    }

    private void example(String text) {
        if (examples.size() < 20) examples.add(text);
    }
}
