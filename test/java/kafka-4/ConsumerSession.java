// A Java consumer with a thread of its own that polls all the time and does what it is told in between; made by ConsumerCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Operations: `subscribe` {topics, pattern, or re2: a pattern that the broker looks at}, `unsubscribe`, `assign` {partitions: ["topic-0"]}, `pollable` {on},
 * `state`: {assignment, records: count, generation, member, events: ["assigned: topic-0 topic-1"], error?}, `take`: the
 * records since the last take as [partition, offset, key, value], `commit` {offsets?}, `committed` {partitions}:
 * {partition: offset or null}, `position` {partition}, `seek` {partition, offset}, `pause`/`resume` {partitions},
 * `lag` {partition}, `offsets` {of: beginning | end, partitions}, `times` {partition, timestamp}, `topics`,
 * `rebalance`, `close` {seconds?: how long to wait, default 30; leave?: false dies without leaving the group}.
 */
final class ConsumerSession implements ConsumerRebalanceListener {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final BlockingQueue<FutureTask<Object>> tasks = new LinkedBlockingQueue<>();
    private final List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private boolean pollable = true;
    /** Subscribed to something or assigned. */
    private boolean reading = false;
    private boolean running = true;
    private int taken = 0;
    private Throwable failure;

    ConsumerSession(JsonNode args) {
        Map<String, String> defaults = Map.of(
            "enable.auto.commit", "false",
            "auto.offset.reset", "earliest",
            "fetch.max.wait.ms", "50",
            "heartbeat.interval.ms", "300",
            "retry.backoff.ms", "50",
            "reconnect.backoff.ms", "50",
            "metadata.max.age.ms", "1000",
            "default.api.timeout.ms", "60000");
        var properties = Clients.properties(args, defaults);
        // There the broker says how often.
        if ("consumer".equals(properties.get("group.protocol"))) properties.remove("heartbeat.interval.ms");
        consumer = new KafkaConsumer<>(properties);
        Thread thread = new Thread(this::live, "consumer-" + args.get("id").asText());
        thread.setDaemon(true);
        thread.start();
    }

    Object run(JsonNode args) throws Exception {
        return onThread(() -> perform(args));
    }

    ConsumerGroupMetadata groupMetadata() throws Exception {
        return (ConsumerGroupMetadata) onThread(consumer::groupMetadata);
    }

    private Object onThread(Callable<Object> work) throws Exception {
        FutureTask<Object> task = new FutureTask<>(work);
        tasks.add(task);
        try {
            return task.get();
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof Exception cause) throw cause;
            throw failed;
        }
    }

    private void live() {
        while (running) {
            try {
                FutureTask<Object> task = tasks.poll();
                if (task != null) task.run();
                else if (pollable && reading) poll();
                else Thread.sleep(5);
            } catch (InterruptedException stopped) {
                return;
            }
        }
    }

    private void poll() {
        try {
            consumer.poll(Duration.ofMillis(20)).forEach(records::add);
        } catch (RuntimeException error) {
            failure = error;
            pollable = false;
        }
    }

    private Object perform(JsonNode args) throws Exception {
        switch (args.get("op").asText()) {
            case "subscribe" -> {
                reading = true;
                if (args.has("re2")) {
                    consumer.subscribe(new org.apache.kafka.clients.consumer.SubscriptionPattern(args.get("re2").asText()), this);
                } else if (args.has("pattern")) {
                    consumer.subscribe(java.util.regex.Pattern.compile(args.get("pattern").asText()), this);
                } else consumer.subscribe(Outcome.texts(args.get("topics")), this);
            }
            case "unsubscribe" -> {
                reading = false;
                consumer.unsubscribe();
            }
            case "assign" -> {
                reading = true;
                consumer.assign(partitions(args));
            }
            case "pollable" -> pollable = args.get("on").asBoolean();
            case "state" -> {
                return state();
            }
            case "take" -> {
                return take();
            }
            case "commit" -> {
                if (args.has("offsets")) consumer.commitSync(ProducerCommand.offsets(args.get("offsets")));
                else consumer.commitSync();
            }
            case "committed" -> {
                return committed(args);
            }
            case "position" -> {
                return consumer.position(partition(args));
            }
            case "seek" -> consumer.seek(partition(args), args.get("offset").asLong());
            case "pause" -> consumer.pause(partitions(args));
            case "resume" -> consumer.resume(partitions(args));
            case "lag" -> {
                return consumer.currentLag(partition(args)).orElse(-1);
            }
            case "offsets" -> {
                return offsets(args);
            }
            case "times" -> {
                var found = consumer.offsetsForTimes(Map.of(partition(args), args.get("timestamp").asLong())).get(partition(args));
                return found == null ? "none" : List.of(found.offset(), found.timestamp());
            }
            case "topics" -> {
                return consumer.listTopics().keySet().stream().sorted().toList();
            }
            case "rebalance" -> consumer.enforceRebalance();
            case "close" -> close(args);
            default -> throw new IllegalArgumentException(args.get("op").asText());
        }
        return "ok";
    }

    private Map<String, Object> state() {
        Map<String, Object> state = new HashMap<>();
        state.put("assignment", sorted(consumer.assignment()));
        state.put("records", records.size());
        state.put("events", List.copyOf(events));
        if (failure != null) state.put("failure", Outcome.of(failure));
        try {
            ConsumerGroupMetadata group = consumer.groupMetadata();
            state.put("generation", group.generationId());
            state.put("member", group.memberId());
        } catch (RuntimeException groupless) {
            state.put("generation", -1);
        }
        return state;
    }

    private List<Object> take() {
        List<Object> rows = new ArrayList<>();
        for (var record : records.subList(taken, records.size())) {
            rows.add(Arrays.asList(
                record.topic() + "-" + record.partition(), record.offset(), text(record.key()), text(record.value())));
        }
        taken = records.size();
        return rows;
    }

    private Map<String, Object> committed(JsonNode args) {
        Map<String, Object> offsets = new TreeMap<>();
        Map<TopicPartition, OffsetAndMetadata> found = consumer.committed(new HashSet<>(partitions(args)));
        for (var entry : found.entrySet()) {
            OffsetAndMetadata offset = entry.getValue();
            offsets.put(entry.getKey().toString(), offset == null ? null : Arrays.asList(offset.offset(), offset.metadata()));
        }
        return offsets;
    }

    private Map<String, Object> offsets(JsonNode args) {
        Collection<TopicPartition> asked = partitions(args);
        boolean end = args.get("of").asText().equals("end");
        Map<String, Object> offsets = new TreeMap<>();
        (end ? consumer.endOffsets(asked) : consumer.beginningOffsets(asked))
            .forEach((partition, offset) -> offsets.put(partition.toString(), offset));
        return offsets;
    }

    private void close(JsonNode args) {
        running = false;
        var membership = args.path("leave").asBoolean(true)
            ? CloseOptions.GroupMembershipOperation.DEFAULT
            : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
        Duration timeout = Duration.ofSeconds(args.path("seconds").asInt(30));
        consumer.close(CloseOptions.timeout(timeout).withGroupMembershipOperation(membership));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        events.add("assigned: " + String.join(" ", sorted(partitions)));
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        events.add("revoked: " + String.join(" ", sorted(partitions)));
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        events.add("lost: " + String.join(" ", sorted(partitions)));
    }

    private static List<String> sorted(Collection<TopicPartition> partitions) {
        return partitions.stream().map(TopicPartition::toString).sorted().toList();
    }

    private static Collection<TopicPartition> partitions(JsonNode args) {
        return Outcome.texts(args.get("partitions")).stream().map(ProducerCommand::partition).toList();
    }

    private static TopicPartition partition(JsonNode args) {
        return ProducerCommand.partition(args.get("partition").asText());
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }
}
