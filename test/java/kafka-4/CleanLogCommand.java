// clean-log: one pass of Kafka's own Cleaner over a partition directory; for the cleaner suite.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.CleanerStats;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * args: {directory, configs: {name: value}, firstDirtyOffset, nowMs, mapBytes, mapLoadFactor, ioBytes}. Everything below the
 * active segment and the last stable offset may be cleaned. Answers {endOffset, cleanableBytes, totalBytes}; the log is closed
 * cleanly before.
 */
public final class CleanLogCommand implements Command {
    /** Producers must not expire between two commands: batches carry made-up times. */
    private static final int LONG_MS = Integer.MAX_VALUE;

    @Override
    public Object run(JsonNode args) throws Exception {
        Properties configs = new Properties();
        args.path("configs").fields().forEachRemaining(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        BrokerTopicStats stats = new BrokerTopicStats();
        try {
            UnifiedLog log = UnifiedLog.create(
                new File(args.get("directory").asText()), new LogConfig(configs), 0, 0, scheduler, stats, Time.SYSTEM,
                LONG_MS, new ProducerStateManagerConfig(LONG_MS, true), LONG_MS, new LogDirFailureChannel(1), true,
                Optional.empty());
            log.updateHighWatermark(log.logEndOffset());
            Object answer = clean(log, args);
            log.close();
            return answer;
        } finally {
            scheduler.shutdown();
            stats.close();
        }
    }

    private static Object clean(UnifiedLog log, JsonNode args) throws Exception {
        int ioBytes = args.get("ioBytes").asInt();
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", Time.SYSTEM);
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(args.get("mapBytes").asInt()), ioBytes, 1 << 20,
            args.get("mapLoadFactor").asDouble(), throttler, Time.SYSTEM, partition -> { });
        long uncleanable = Math.min(log.lastStableOffset(), log.activeSegment().baseOffset());
        LogToClean plan =
            new LogToClean(log, args.get("firstDirtyOffset").asLong(), uncleanable, false);
        Map.Entry<Long, CleanerStats> done = cleaner.doClean(plan, args.get("nowMs").asLong());
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("endOffset", done.getKey());
        answer.put("firstUncleanableOffset", plan.firstUncleanableOffset());
        answer.put("cleanableBytes", plan.cleanableBytes());
        answer.put("totalBytes", plan.totalBytes());
        return answer;
    }
}
