// describe-topic: what a cluster tells about one topic: id, partitions, configs, offsets; used by suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * args: {bootstrap, topic}. Answers {id, configs: {overridden key: value}, partitions: [{partition, leader, replicas,
 * isr, logStart, highWatermark, lastStable}]}; offsets of a partition without a leader are -1.
 */
public final class DescribeTopicCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        String topic = args.get("topic").asText();
        TopicDescription description = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        Map<TopicPartition, OffsetSpec> earliest = new HashMap<>();
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        description.partitions().forEach(partition -> {
            if (partition.leader() == null) return;
            earliest.put(new TopicPartition(topic, partition.partition()), OffsetSpec.earliest());
            latest.put(new TopicPartition(topic, partition.partition()), OffsetSpec.latest());
        });
        var starts = offsets(admin, earliest, IsolationLevel.READ_UNCOMMITTED);
        var ends = offsets(admin, latest, IsolationLevel.READ_UNCOMMITTED);
        var stable = offsets(admin, latest, IsolationLevel.READ_COMMITTED);
        List<Map<String, Object>> partitions = new ArrayList<>();
        description.partitions().forEach(info -> {
            TopicPartition partition = new TopicPartition(topic, info.partition());
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("partition", info.partition());
            row.put("leader", info.leader() == null ? -1 : info.leader().id());
            row.put("replicas", info.replicas().stream().map(Node::id).toList());
            row.put("isr", info.isr().stream().map(Node::id).toList());
            row.put("logStart", starts.getOrDefault(partition, -1L));
            row.put("highWatermark", ends.getOrDefault(partition, -1L));
            row.put("lastStable", stable.getOrDefault(partition, -1L));
            partitions.add(row);
        });
        return Map.of("id", description.topicId().toString(), "configs", overrides(admin, topic), "partitions", partitions);
    }

    /** In less time than the Admin's own bound: a leader that is gone is asked again by the caller's next try. */
    private static Map<TopicPartition, Long> offsets(Admin admin, Map<TopicPartition, OffsetSpec> asked, IsolationLevel level)
            throws Exception {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        var found = admin.listOffsets(asked, new ListOffsetsOptions(level).timeoutMs(15_000)).all().get();
        found.forEach((partition, answer) -> offsets.put(partition, answer.offset()));
        return offsets;
    }

    private static Map<String, String> overrides(Admin admin, String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, String> configs = new TreeMap<>();
        for (ConfigEntry entry : admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()) {
            if (entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG) configs.put(entry.name(), entry.value());
        }
        return configs;
    }
}
