// create-topics: makes topics and waits until every partition is led and served; used by suites to set scenes.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;

/** args: {bootstrap, topics: [{name, partitions?, replicationFactor?, assignments?: [[broker]] (instead of both), configs?}]}. Answers {name: topic id}. */
public final class CreateTopicsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        List<NewTopic> topics = new ArrayList<>();
        for (JsonNode topic : args.get("topics")) {
            Map<String, String> configs = new HashMap<>();
            topic.path("configs").fields().forEachRemaining(field -> configs.put(field.getKey(), field.getValue().asText()));
            short replication = (short) topic.path("replicationFactor").asInt(1);
            String name = topic.get("name").asText();
            NewTopic created = topic.has("assignments")
                ? new NewTopic(name, assignments(topic.get("assignments")))
                : new NewTopic(name, topic.path("partitions").asInt(1), replication);
            topics.add(created.configs(configs));
        }
        awaitBrokers(admin, topics);
        CreateTopicsResult created = admin.createTopics(topics);
        created.all().get();
        Map<String, String> ids = new LinkedHashMap<>();
        for (NewTopic topic : topics) ids.put(topic.name(), whenLed(admin, topic.name(), idOf(created, topic.name())));
        return ids;
    }

    /** Zero where the cluster does not tell. */
    private static Uuid idOf(CreateTopicsResult created, String name) throws InterruptedException {
        try {
            return created.topicId(name).get();
        } catch (ExecutionException untold) {
            return Uuid.ZERO_UUID;
        }
    }

    /** A broker that listens may not be known to the controller yet, which would refuse its replicas. */
    private static void awaitBrokers(Admin admin, List<NewTopic> topics) throws Exception {
        int count = 1;
        Set<Integer> ids = new HashSet<>();
        for (NewTopic topic : topics) {
            count = Math.max(count, topic.replicationFactor());
            if (topic.replicasAssignments() != null) topic.replicasAssignments().values().forEach(ids::addAll);
        }
        for (int attempt = 0; (count > 1 || !ids.isEmpty()) && !areThere(admin, count, ids); attempt++) {
            if (attempt == 1200) throw new IllegalStateException("there are no " + count + " brokers with " + ids + " among them");
            Thread.sleep(50);
        }
    }

    private static boolean areThere(Admin admin, int count, Set<Integer> ids) throws Exception {
        Set<Integer> present = new HashSet<>();
        admin.describeCluster().nodes().get().forEach(node -> present.add(node.id()));
        return present.size() >= count && present.containsAll(ids);
    }

    private static Map<Integer, List<Integer>> assignments(JsonNode partitions) {
        Map<Integer, List<Integer>> assignments = new HashMap<>();
        for (JsonNode brokers : partitions) {
            List<Integer> ids = new ArrayList<>();
            brokers.forEach(id -> ids.add(id.asInt()));
            assignments.put(assignments.size(), ids);
        }
        return assignments;
    }

    /** The broker may still tell of an earlier topic of that name, and let it be written. */
    private static String whenLed(Admin admin, String name, Uuid id) throws Exception {
        for (int attempt = 0; ; attempt++) {
            try {
                var description = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
                boolean isIt = id.equals(Uuid.ZERO_UUID) || id.equals(description.topicId());
                boolean led = isIt && description.partitions().stream().noneMatch(partition -> partition.leader() == null);
                if (led) {
                    awaitServed(admin, description);
                    return description.topicId().toString();
                }
            } catch (ExecutionException error) {
                if (!(error.getCause() instanceof RetriableException)) throw error;
            }
            if (attempt == 1200) throw new IllegalStateException("no leaders for " + name);
            Thread.sleep(50);
        }
    }

    /**
     * A broker tells the leader of a partition before it leads it. Producers that are refused in between have been seen to wait for
     * their whole delivery timeout.
     */
    private static void awaitServed(Admin admin, TopicDescription description) throws Exception {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        description.partitions().forEach(
            info -> asked.put(new TopicPartition(description.name(), info.partition()), OffsetSpec.earliest()));
        admin.listOffsets(asked, new ListOffsetsOptions().timeoutMs(15_000)).all().get();
    }
}
