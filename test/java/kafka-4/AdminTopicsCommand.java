// admin-topics: Java Admin's calls about topics, partitions and their configs, with failures as values; for the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * args: {bootstrap, admin?, op, ...}. op: `create` {topics: [{name, partitions?, replicationFactor?, assignments?, configs?}],
 * validateOnly?}, `list` {internal?}, `describe` {topics}, `delete` {topics}, `grow` {topic, count}, `delete-records`
 * {before: {"topic-0": n}}, `offsets` {partition, spec: earliest | latest | max-timestamp | timestamp in ms, isolation?},
 * `configs` {type?, name, keys?, synonyms?}, `alter` {type?, name, ops: [[SET | DELETE | APPEND | SUBTRACT, key, value]],
 * validateOnly?}.
 */
public final class AdminTopicsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        return switch (args.get("op").asText()) {
            case "create" -> create(admin, args);
            case "list" -> Outcome.of(
                admin.listTopics(new ListTopicsOptions().listInternal(args.path("internal").asBoolean())).names(),
                names -> names.stream().sorted().toList());
            case "describe" -> describe(admin, args);
            case "delete" -> Outcome.each(admin.deleteTopics(Outcome.texts(args.get("topics"))).topicNameValues());
            case "grow" -> Outcome.each(admin.createPartitions(
                Map.of(args.get("topic").asText(), NewPartitions.increaseTo(args.get("count").asInt()))).values());
            case "delete-records" -> deleteRecords(admin, args);
            case "offsets" -> offsets(admin, args);
            case "configs" -> configs(admin, args);
            case "alter" -> alter(admin, args);
            default -> throw new IllegalArgumentException(args.get("op").asText());
        };
    }

    private static Object create(Admin admin, JsonNode args) throws Exception {
        List<NewTopic> topics = new ArrayList<>();
        for (JsonNode topic : args.get("topics")) {
            Map<String, String> configs = new HashMap<>();
            topic.path("configs").fields().forEachRemaining(field -> configs.put(field.getKey(), field.getValue().asText()));
            topics.add(newTopic(topic).configs(configs));
        }
        var result = admin.createTopics(topics, new CreateTopicsOptions().validateOnly(args.path("validateOnly").asBoolean()));
        return Outcome.each(result.values());
    }

    private static NewTopic newTopic(JsonNode topic) {
        String name = topic.get("name").asText();
        if (!topic.has("assignments")) {
            return new NewTopic(name, topic.path("partitions").asInt(1), (short) topic.path("replicationFactor").asInt(1));
        }
        Map<Integer, List<Integer>> assignments = new HashMap<>();
        topic.get("assignments").forEach(brokers -> {
            List<Integer> ids = new ArrayList<>();
            brokers.forEach(id -> ids.add(id.asInt()));
            assignments.put(assignments.size(), ids);
        });
        return new NewTopic(name, assignments);
    }

    private static Object describe(Admin admin, JsonNode args) throws Exception {
        Map<String, Object> topics = new TreeMap<>();
        for (var entry : admin.describeTopics(Outcome.texts(args.get("topics"))).topicNameValues().entrySet()) {
            topics.put(entry.getKey(), Outcome.of(entry.getValue(), topic -> Map.of(
                "internal", topic.isInternal(),
                "partitions", topic.partitions().stream().map(partition -> List.of(
                    partition.partition(),
                    partition.leader() == null ? -1 : partition.leader().id(),
                    partition.replicas().size(),
                    partition.isr().size())).toList())));
        }
        return topics;
    }

    private static Object deleteRecords(Admin admin, JsonNode args) throws Exception {
        Map<TopicPartition, RecordsToDelete> request = new HashMap<>();
        args.get("before").fields().forEachRemaining(field -> request.put(
            ProducerCommand.partition(field.getKey()), RecordsToDelete.beforeOffset(field.getValue().asLong())));
        Map<String, Object> answers = new TreeMap<>();
        for (var entry : admin.deleteRecords(request).lowWatermarks().entrySet()) {
            answers.put(entry.getKey().toString(), Outcome.of(entry.getValue(), deleted -> deleted.lowWatermark()));
        }
        return answers;
    }

    private static Object offsets(Admin admin, JsonNode args) throws Exception {
        TopicPartition partition = ProducerCommand.partition(args.get("partition").asText());
        OffsetSpec spec = switch (args.get("spec").asText()) {
            case "earliest" -> OffsetSpec.earliest();
            case "latest" -> OffsetSpec.latest();
            case "max-timestamp" -> OffsetSpec.maxTimestamp();
            case "earliest-local" -> OffsetSpec.earliestLocal();
            case "latest-tiered" -> OffsetSpec.latestTiered();
            default -> OffsetSpec.forTimestamp(args.get("spec").asLong());
        };
        IsolationLevel isolation = IsolationLevel.valueOf(args.path("isolation").asText("READ_UNCOMMITTED"));
        return Outcome.of(
            admin.listOffsets(Map.of(partition, spec), new ListOffsetsOptions(isolation)).partitionResult(partition),
            found -> List.of(found.offset(), found.timestamp()));
    }

    private static ConfigResource resource(JsonNode args) {
        String type = args.path("type").asText("topic").toUpperCase(Locale.ROOT);
        return new ConfigResource(ConfigResource.Type.valueOf(type), args.get("name").asText());
    }

    private static Object configs(Admin admin, JsonNode args) throws Exception {
        List<String> keys = args.has("keys") ? Outcome.texts(args.get("keys")) : null;
        DescribeConfigsOptions options = new DescribeConfigsOptions().includeSynonyms(args.path("synonyms").asBoolean());
        ConfigResource resource = resource(args);
        return Outcome.of(admin.describeConfigs(List.of(resource), options).values().get(resource), config -> {
            Map<String, Object> entries = new TreeMap<>();
            for (ConfigEntry entry : config.entries()) {
                if (keys != null && !keys.contains(entry.name())) continue;
                List<Object> row = new ArrayList<>();
                row.add(entry.value());
                row.add(entry.source().toString());
                row.add(entry.isReadOnly());
                row.add(entry.isSensitive());
                row.add(entry.type().toString());
                for (var synonym : entry.synonyms()) row.add(synonym.name() + "=" + synonym.value() + " " + synonym.source());
                entries.put(entry.name(), row);
            }
            return entries;
        });
    }

    private static Object alter(Admin admin, JsonNode args) throws Exception {
        List<AlterConfigOp> operations = new ArrayList<>();
        for (JsonNode op : args.get("ops")) {
            ConfigEntry entry = new ConfigEntry(op.get(1).asText(), op.path(2).asText(null));
            operations.add(new AlterConfigOp(entry, AlterConfigOp.OpType.valueOf(op.get(0).asText())));
        }
        AlterConfigsOptions options = new AlterConfigsOptions().validateOnly(args.path("validateOnly").asBoolean());
        ConfigResource resource = resource(args);
        return Outcome.of(admin.incrementalAlterConfigs(Map.of(resource, operations), options).values().get(resource));
    }
}
