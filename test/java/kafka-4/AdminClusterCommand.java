// admin-cluster: Java Admin's calls about the cluster as a whole, with failures as values; for the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.ListConfigResourcesOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/**
 * args: {bootstrap, admin?, op, ...}. op: `describe` {operations?}, `features`, `update-features` {updates: {name: [level, UPGRADE |
 * SAFE_DOWNGRADE | UNSAFE_DOWNGRADE]}, validateOnly?}, `quorum`, `elect` {type, partitions?}, `reassign` {partitions:
 * {"topic-0": [broker] or null}}, `reassignments`, `resources` {types?}, `log-dirs` {brokers}, `replica-log-dirs`
 * {partitions}, `quotas`, `alter-quotas` {user, key, value}, `unregister` {broker}, `instance-id`, `tokens`.
 */
public final class AdminClusterCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        return switch (args.get("op").asText()) {
            case "describe" -> describe(admin, args);
            case "features" -> Outcome.of(admin.describeFeatures().featureMetadata(), found -> Map.of(
                "supported", new TreeMap<>(text(found.supportedFeatures())),
                "finalized", new TreeMap<>(text(found.finalizedFeatures()))));
            case "update-features" -> updateFeatures(admin, args);
            case "quorum" -> Outcome.of(admin.describeMetadataQuorum().quorumInfo(), found -> Map.of(
                "leader", found.leaderId(),
                "voters", found.voters().stream().map(voter -> voter.replicaId()).toList(),
                "observers", found.observers().size(),
                "current", found.highWatermark() > 0 && found.leaderEpoch() > 0));
            case "elect" -> elect(admin, args);
            case "reassign" -> reassign(admin, args);
            case "reassignments" -> Outcome.of(admin.listPartitionReassignments().reassignments(), found -> found.size());
            case "resources" -> resources(admin, args);
            case "log-dirs" -> logDirs(admin, args);
            case "replica-log-dirs" -> replicaLogDirs(admin, args);
            case "quotas" -> Outcome.of(admin.describeClientQuotas(ClientQuotaFilter.all()).entities(), found ->
                found.entrySet().stream().map(entry -> entry.getKey().entries() + " " + entry.getValue()).sorted().toList());
            case "alter-quotas" -> Outcome.each(admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                new ClientQuotaEntity(Map.of("user", args.get("user").asText())),
                List.of(new ClientQuotaAlteration.Op(args.get("key").asText(), args.get("value").asDouble()))))).values());
            case "unregister" -> Outcome.of(admin.unregisterBroker(args.get("broker").asInt()).all());
            case "instance-id" -> admin.clientInstanceId(Duration.ofSeconds(20)).toString().length();
            case "tokens" -> Outcome.of(admin.describeDelegationToken().delegationTokens(), found -> found.size());
            default -> throw new IllegalArgumentException(args.get("op").asText());
        };
    }

    private static Map<String, String> text(Map<String, ?> ranges) {
        Map<String, String> texts = new HashMap<>();
        ranges.forEach((name, range) -> texts.put(name, range.toString()));
        return texts;
    }

    private static Object describe(Admin admin, JsonNode args) throws Exception {
        boolean operations = args.path("operations").asBoolean();
        var result = admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(operations));
        Map<String, Object> answer = new TreeMap<>();
        answer.put("nodes", Outcome.of(result.nodes(), nodes -> nodes.stream().map(node -> node.id() + " " + node.rack()).toList()));
        answer.put("controller", Outcome.of(result.controller(), node -> node.id()));
        answer.put("operations", Outcome.of(result.authorizedOperations(), found ->
            found == null ? "null" : found.stream().map(Enum::toString).sorted().toList()));
        return answer;
    }

    private static Object updateFeatures(Admin admin, JsonNode args) throws Exception {
        Map<String, FeatureUpdate> updates = new HashMap<>();
        args.get("updates").fields().forEachRemaining(field -> updates.put(field.getKey(), new FeatureUpdate(
            (short) field.getValue().get(0).asInt(), FeatureUpdate.UpgradeType.valueOf(field.getValue().get(1).asText()))));
        var options = new UpdateFeaturesOptions().validateOnly(args.path("validateOnly").asBoolean());
        return Outcome.each(admin.updateFeatures(updates, options).values());
    }

    private static Object elect(Admin admin, JsonNode args) throws Exception {
        Set<TopicPartition> partitions = args.has("partitions")
            ? Outcome.texts(args.get("partitions")).stream().map(ProducerCommand::partition).collect(Collectors.toSet())
            : null;
        var result = admin.electLeaders(ElectionType.valueOf(args.get("type").asText()), partitions).partitions();
        return Outcome.of(result, found -> {
            Map<String, Object> answers = new TreeMap<>();
            found.forEach((partition, error) -> answers.put(
                partition.toString(), error.<Object>map(Outcome::of).orElse("ok")));
            return answers;
        });
    }

    private static Object reassign(Admin admin, JsonNode args) throws Exception {
        Map<TopicPartition, Optional<NewPartitionReassignment>> request = new HashMap<>();
        args.get("partitions").fields().forEachRemaining(field -> {
            List<Integer> brokers = new ArrayList<>();
            field.getValue().forEach(id -> brokers.add(id.asInt()));
            Optional<NewPartitionReassignment> target =
                field.getValue().isNull() ? Optional.empty() : Optional.of(new NewPartitionReassignment(brokers));
            request.put(ProducerCommand.partition(field.getKey()), target);
        });
        return Outcome.each(admin.alterPartitionReassignments(request).values());
    }

    private static Object resources(Admin admin, JsonNode args) throws Exception {
        Set<ConfigResource.Type> types = args.has("types")
            ? Outcome.texts(args.get("types")).stream().map(ConfigResource.Type::valueOf).collect(Collectors.toSet())
            : Set.of();
        return Outcome.of(admin.listConfigResources(types, new ListConfigResourcesOptions()).all(), found ->
            found.stream().map(resource -> resource.type() + " " + resource.name()).sorted().toList());
    }

    private static Object logDirs(Admin admin, JsonNode args) throws Exception {
        List<Integer> brokers = new ArrayList<>();
        args.get("brokers").forEach(id -> brokers.add(id.asInt()));
        Map<String, Object> answers = new TreeMap<>();
        for (var entry : admin.describeLogDirs(brokers).descriptions().entrySet()) {
            answers.put(String.valueOf(entry.getKey()), Outcome.of(entry.getValue(), directories ->
                directories.values().stream().map(directory -> List.of(
                    String.valueOf(directory.error()),
                    directory.totalBytes().isPresent(),
                    directory.replicaInfos().keySet().stream().map(TopicPartition::toString)
                        .filter(name -> !name.startsWith("__")).sorted().toList())).toList()));
        }
        return answers;
    }

    private static Object replicaLogDirs(Admin admin, JsonNode args) throws Exception {
        Map<String, Object> answers = new TreeMap<>();
        List<TopicPartitionReplica> replicas = Outcome.texts(args.get("partitions")).stream()
            .map(ProducerCommand::partition)
            .map(partition -> new TopicPartitionReplica(partition.topic(), partition.partition(), 1)).toList();
        for (var entry : admin.describeReplicaLogDirs(replicas).values().entrySet()) {
            answers.put(entry.getKey().toString(), Outcome.of(entry.getValue(), found ->
                List.of(found.getCurrentReplicaLogDir() != null, found.getCurrentReplicaOffsetLag())));
        }
        return answers;
    }
}
