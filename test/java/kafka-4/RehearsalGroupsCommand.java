// rehearsal-groups: consumers that read on as members of groups, with a ledger of what each was given and what it has committed.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;

/**
 * args: {op, session, ...}. op: `start` {bootstrap, properties?, groups: [{id, topics, commits, records?}]}: with `records` a
 * consumer commits and leaves once it has as many; `await`: until those have left; `progress`; `stop`: all end without a
 * commit. The others answer {group: {partition: {runs: [[first, last]], committed (-1: nothing), firstMs}}}.
 */
public final class RehearsalGroupsCommand implements Command {
    private final Map<String, Session> sessions = new ConcurrentHashMap<>();

    private static final class Session {
        final List<Thread> threads = new ArrayList<>();
        final Map<String, Map<String, Place>> groups = new TreeMap<>();
        final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        volatile boolean stopping;
    }

    private static final class Place {
        final OffsetRuns read = new OffsetRuns();
        final long firstMs = System.currentTimeMillis();
        long committed = -1;
    }

    @Override
    public Object run(JsonNode args) throws Exception {
        String op = args.get("op").asText();
        Session session = sessions.computeIfAbsent(args.get("session").asText(), name -> new Session());
        if (op.equals("start")) start(args, session);
        if (op.equals("stop")) session.stopping = true;
        if (op.equals("stop") || op.equals("await")) for (Thread thread : session.threads) {
            thread.join(90_000);
            if (thread.isAlive()) throw new IllegalStateException("still reading: " + answer(session));
        }
        if (!session.failures.isEmpty()) throw new IllegalStateException("a consumer could not go on", session.failures.peek());
        return answer(session);
    }

    private void start(JsonNode args, Session session) {
        for (JsonNode group : args.get("groups")) {
            synchronized (session.groups) {
                session.groups.put(group.get("id").asText(), new TreeMap<>());
            }
            Thread thread = new Thread(() -> {
                try {
                    consume(args, group, session);
                } catch (Throwable error) {
                    if (!session.stopping) session.failures.add(error);
                }
            });
            thread.setDaemon(true);
            session.threads.add(thread);
            thread.start();
        }
    }

    private void consume(JsonNode args, JsonNode group, Session session) {
        String id = group.get("id").asText();
        long wanted = group.path("records").asLong(Long.MAX_VALUE);
        Map<String, String> own = Map.of(
            "group.id", id,
            "client.id", id,
            "enable.auto.commit", "false",
            "auto.offset.reset", "earliest",
            "isolation.level", "read_committed",
            "max.poll.records", "50",
            "fetch.max.wait.ms", "100",
            "max.partition.fetch.bytes", "8388608",
            "default.api.timeout.ms", "20000");
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Clients.properties(args, own));
        try {
            consumer.subscribe(Outcome.texts(group.get("topics")));
            long count = 0;
            for (int polls = 1; !session.stopping && count < wanted; polls++) {
                var records = consumer.poll(Duration.ofMillis(100));
                note(session, id, records);
                count += records.count();
                boolean due = polls % 3 == 0 || count >= wanted;
                if (group.get("commits").asBoolean() && due) commit(consumer, session, id);
            }
        } finally {
            consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofMillis(session.stopping ? 500 : 20_000)));
        }
    }

    private void note(Session session, String id, org.apache.kafka.clients.consumer.ConsumerRecords<byte[], byte[]> records) {
        synchronized (session.groups) {
            for (var record : records) {
                String partition = record.topic() + "-" + record.partition();
                session.groups.get(id).computeIfAbsent(partition, any -> new Place()).read.add(record.offset());
            }
        }
    }

    private void commit(KafkaConsumer<byte[], byte[]> consumer, Session session, String id) {
        var offsets = new java.util.HashMap<org.apache.kafka.common.TopicPartition, org.apache.kafka.clients.consumer.OffsetAndMetadata>();
        synchronized (session.groups) {
            for (var partition : consumer.assignment())
                if (session.groups.get(id).containsKey(partition.toString()))
                    offsets.put(partition, new org.apache.kafka.clients.consumer.OffsetAndMetadata(consumer.position(partition)));
        }
        if (offsets.isEmpty()) return;
        try {
            consumer.commitSync(offsets);
        } catch (KafkaException unanswered) {
            return;
        }
        synchronized (session.groups) {
            offsets.forEach((partition, offset) -> session.groups.get(id).get(partition.toString()).committed = offset.offset());
        }
    }

    private Object answer(Session session) {
        Map<String, Object> groups = new TreeMap<>();
        synchronized (session.groups) {
            session.groups.forEach((id, places) -> {
                Map<String, Object> rows = new TreeMap<>();
                places.forEach((partition, place) -> rows.put(partition, Map.of(
                    "runs", place.read.runs(), "committed", place.committed, "firstMs", place.firstMs)));
                groups.put(id, rows);
            });
        }
        return groups;
    }
}
