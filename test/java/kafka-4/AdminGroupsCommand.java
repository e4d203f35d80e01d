// admin-groups: Java Admin's calls about groups, with failures as values; for the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/**
 * args: {bootstrap, admin?, op, ...}. op: `list` {states?, types?}: [id, protocol, type, state] by id, `describe` {groups,
 * operations?} and `describe-classic` {groups}, `describe-share` {groups}, `share-offsets` {group}, `offsets` {group, partitions?, stable?}, `alter-offsets` {group, offsets:
 * {"topic-0": n}}, `delete-offsets` {group, partitions}, `delete` {groups}, `remove` {group, instances? (all)}.
 */
public final class AdminGroupsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        String group = args.path("group").asText();
        return switch (args.get("op").asText()) {
            case "list" -> list(admin, args);
            case "describe" -> describe(admin, args);
            case "describe-classic" -> describeClassic(admin, args);
            case "describe-share" -> describeShare(admin, args);
            case "offsets" -> offsets(admin, args);
            case "alter-offsets" -> {
                var offsets = ProducerCommand.offsets(args.get("offsets"));
                var result = admin.alterConsumerGroupOffsets(group, offsets);
                Map<String, Object> answers = new TreeMap<>();
                for (var partition : offsets.keySet()) answers.put(partition.toString(), Outcome.of(result.partitionResult(partition)));
                yield answers;
            }
            case "share-offsets" -> Outcome.of(
                admin.listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(group),
                found -> {
                    Map<String, Object> offsets = new TreeMap<>();
                    found.forEach((partition, info) -> offsets.put(partition.toString(), info == null ? null : info.startOffset()));
                    return offsets;
                });
            case "delete-offsets" -> {
                Set<TopicPartition> partitions = partitions(args);
                var result = admin.deleteConsumerGroupOffsets(group, partitions);
                Map<String, Object> answers = new TreeMap<>();
                for (var partition : partitions) answers.put(partition.toString(), Outcome.of(result.partitionResult(partition)));
                yield answers;
            }
            case "delete" -> Outcome.each(admin.deleteConsumerGroups(Outcome.texts(args.get("groups"))).deletedGroups());
            case "remove" -> Outcome.of(admin.removeMembersFromConsumerGroup(group, removal(args)).all());
            default -> throw new IllegalArgumentException(args.get("op").asText());
        };
    }

    private static RemoveMembersFromConsumerGroupOptions removal(JsonNode args) {
        if (!args.has("instances")) return new RemoveMembersFromConsumerGroupOptions();
        Set<MemberToRemove> members = new HashSet<>();
        args.get("instances").forEach(instance -> members.add(new MemberToRemove(instance.asText())));
        return new RemoveMembersFromConsumerGroupOptions(members);
    }

    private static Object list(Admin admin, JsonNode args) throws Exception {
        ListGroupsOptions options = new ListGroupsOptions();
        if (args.has("states")) {
            options.inGroupStates(Outcome.texts(args.get("states")).stream().map(GroupState::parse).collect(Collectors.toSet()));
        }
        if (args.has("types")) {
            options.withTypes(Outcome.texts(args.get("types")).stream().map(GroupType::parse).collect(Collectors.toSet()));
        }
        return Outcome.of(admin.listGroups(options).all(), groups -> groups.stream()
            .map(group -> Arrays.asList(
                group.groupId(),
                group.protocol(),
                group.type().map(GroupType::toString).orElse(null),
                group.groupState().map(GroupState::toString).orElse(null)))
            .sorted((a, b) -> a.get(0).compareTo(b.get(0)))
            .toList());
    }

    private static Object describe(Admin admin, JsonNode args) throws Exception {
        boolean operations = args.path("operations").asBoolean();
        var options = new DescribeConsumerGroupsOptions().includeAuthorizedOperations(operations);
        Map<String, Object> answers = new TreeMap<>();
        for (var entry : admin.describeConsumerGroups(Outcome.texts(args.get("groups")), options).describedGroups().entrySet()) {
            answers.put(entry.getKey(), Outcome.of(entry.getValue(), group -> describe(group, operations)));
        }
        return answers;
    }

    private static Object describe(ConsumerGroupDescription group, boolean operations) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("state", group.groupState().toString());
        row.put("type", group.type().toString());
        row.put("assignor", group.partitionAssignor());
        row.put("simple", group.isSimpleConsumerGroup());
        row.put("coordinator", group.coordinator().id());
        row.put("members", members(group.members()));
        if (operations) row.put("operations", group.authorizedOperations().stream().map(Enum::toString).sorted().toList());
        return row;
    }

    private static Object describeClassic(Admin admin, JsonNode args) throws Exception {
        Map<String, Object> answers = new TreeMap<>();
        for (var entry : admin.describeClassicGroups(Outcome.texts(args.get("groups"))).describedGroups().entrySet()) {
            answers.put(entry.getKey(), Outcome.of(entry.getValue(), group -> Map.of(
                "state", group.state().toString(),
                "protocol", group.protocol(),
                "protocolData", group.protocolData(),
                "simple", group.isSimpleConsumerGroup(),
                "members", members(group.members()))));
        }
        return answers;
    }

    private static Object describeShare(Admin admin, JsonNode args) throws Exception {
        Map<String, Object> answers = new TreeMap<>();
        for (var entry : admin.describeShareGroups(Outcome.texts(args.get("groups"))).describedGroups().entrySet()) {
            answers.put(entry.getKey(), Outcome.of(entry.getValue(), group -> Map.of("state", group.groupState().toString())));
        }
        return answers;
    }

    /** Without member ids, which differ from run to run; a client's own id stays. */
    private static List<Object> members(Iterable<MemberDescription> members) {
        List<List<Object>> rows = new ArrayList<>();
        for (MemberDescription member : members) {
            rows.add(Arrays.asList(
                member.clientId(),
                member.groupInstanceId().orElse(null),
                member.host(),
                member.consumerId().startsWith(member.groupInstanceId().orElse(member.clientId()) + "-"),
                member.assignment().topicPartitions().stream().map(TopicPartition::toString).sorted().toList()));
        }
        rows.sort((a, b) -> a.toString().compareTo(b.toString()));
        return List.copyOf(rows);
    }

    private static Object offsets(Admin admin, JsonNode args) throws Exception {
        var options = new ListConsumerGroupOffsetsOptions().requireStable(args.path("stable").asBoolean());
        var spec = new ListConsumerGroupOffsetsSpec();
        if (args.has("partitions")) spec.topicPartitions(partitions(args));
        String group = args.get("group").asText();
        var result = admin.listConsumerGroupOffsets(Map.of(group, spec), options).partitionsToOffsetAndMetadata(group);
        return Outcome.of(result, found -> {
            Map<String, Object> offsets = new TreeMap<>();
            found.forEach((partition, offset) -> offsets.put(
                partition.toString(),
                offset == null ? null : Arrays.asList(offset.offset(), offset.leaderEpoch().orElse(null), offset.metadata())));
            return offsets;
        });
    }

    private static Set<TopicPartition> partitions(JsonNode args) {
        return Outcome.texts(args.get("partitions")).stream().map(ProducerCommand::partition).collect(Collectors.toSet());
    }
}
