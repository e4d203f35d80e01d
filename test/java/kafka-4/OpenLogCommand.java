// open-log: opens a partition directory with Kafka's UnifiedLog, appends and cuts if asked, and tells what it sees; for the log suite.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * args: {directory, logStartOffset, recoveryPoint, clean, configs: {name: value}, append?: base64 of batches, epoch?,
 * truncateTo?, timestamps?: [ms]}. The log is closed cleanly before the answer.
 */
public final class OpenLogCommand implements Command {
    private static final int DAY_MS = 86_400_000;

    @Override
    public Object run(JsonNode args) throws Exception {
        Properties configs = new Properties();
        args.path("configs").fields().forEachRemaining(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        BrokerTopicStats stats = new BrokerTopicStats();
        try {
            UnifiedLog log = UnifiedLog.create(
                new File(args.get("directory").asText()),
                new LogConfig(configs),
                args.path("logStartOffset").asLong(),
                args.path("recoveryPoint").asLong(),
                scheduler,
                stats,
                Time.SYSTEM,
                DAY_MS,
                new ProducerStateManagerConfig(DAY_MS, true),
                DAY_MS,
                new LogDirFailureChannel(1),
                args.path("clean").asBoolean(),
                Optional.empty());
            change(log, args);
            log.updateHighWatermark(log.logEndOffset());
            Map<String, Object> seen = describe(log, args);
            log.close();
            return seen;
        } finally {
            scheduler.shutdown();
            stats.close();
        }
    }

    private static void change(UnifiedLog log, JsonNode args) {
        if (args.has("truncateTo")) log.truncateTo(args.get("truncateTo").asLong());
        if (!args.has("append")) return;
        byte[] bytes = Base64.getDecoder().decode(args.get("append").asText());
        log.appendAsFollower(MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)), args.path("epoch").asInt());
    }

    private static Map<String, Object> describe(UnifiedLog log, JsonNode args) throws Exception {
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("logStartOffset", log.logStartOffset());
        seen.put("logEndOffset", log.logEndOffset());
        seen.put("lastStableOffset", log.lastStableOffset());
        seen.put("segments", log.logSegments().stream().map(segment -> segment.baseOffset()).toList());
        seen.put("sizeBytes", log.size());
        seen.put("topicId", log.topicId().map(Object::toString).orElse(null));
        seen.put("epochs", log.leaderEpochCache().epochEntries().stream()
            .map(entry -> List.of(entry.epoch(), entry.startOffset())).toList());
        List<Object> producers = new ArrayList<>();
        log.activeProducers().stream()
            .sorted((a, b) -> Long.compare(a.producerId(), b.producerId()))
            .forEach(producer -> producers.add(List.of(
                producer.producerId(), producer.producerEpoch(), producer.lastSequence(),
                producer.lastTimestamp(), producer.coordinatorEpoch(), producer.currentTxnStartOffset())));
        seen.put("producers", producers);
        seen.put("aborted", log.collectAbortedTransactions(log.logStartOffset(), log.logEndOffset()).stream()
            .map(txn -> List.of(txn.producerId(), txn.firstOffset(), txn.lastOffset(), txn.lastStableOffset()))
            .toList());
        List<Object> times = new ArrayList<>();
        for (JsonNode timestamp : args.path("timestamps")) {
            times.add(log.fetchOffsetByTimestamp(timestamp.asLong(), Optional.empty()).timestampAndOffsetOpt()
                .map(found -> found.offset).orElse(-1L));
        }
        seen.put("times", times);
        return seen;
    }
}
