// admin-transactions: Java Admin's calls about transactions and producers, with failures as values; for the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.TopicPartition;

/**
 * args: {bootstrap, admin?, op, ...}. op: `list` {states?, pattern?, durationMs?}: [id, state] by id, `describe` {ids}, `fence` {ids},
 * `terminate` {txn}, `producers` {partition}: the producers of a partition, `abort` {partition, producerId, epoch,
 * coordinatorEpoch}.
 */
public final class AdminTransactionsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        return switch (args.get("op").asText()) {
            case "list" -> list(admin, args);
            case "describe" -> describe(admin, args);
            case "fence" -> Outcome.each(admin.fenceProducers(Outcome.texts(args.get("ids"))).fencedProducers());
            case "terminate" -> Outcome.of(admin.forceTerminateTransaction(args.get("txn").asText()).result());
            case "producers" -> producers(admin, args);
            case "abort" -> Outcome.of(admin.abortTransaction(new AbortTransactionSpec(
                ProducerCommand.partition(args.get("partition").asText()),
                args.get("producerId").asLong(),
                (short) args.get("epoch").asInt(),
                args.get("coordinatorEpoch").asInt())).all());
            default -> throw new IllegalArgumentException(args.get("op").asText());
        };
    }

    private static Object list(Admin admin, JsonNode args) throws Exception {
        ListTransactionsOptions options = new ListTransactionsOptions();
        if (args.has("states")) {
            Set<TransactionState> states = Outcome.texts(args.get("states")).stream()
                .map(TransactionState::parse).collect(Collectors.toSet());
            options.filterStates(states);
        }
        if (args.has("durationMs")) options.filterOnDuration(args.get("durationMs").asLong());
        if (args.has("pattern")) options.filterOnTransactionalIdPattern(args.get("pattern").asText());
        return Outcome.of(admin.listTransactions(options).all(), found -> found.stream()
            .map(listing -> List.of(listing.transactionalId(), listing.state().toString()))
            .sorted((a, b) -> a.get(0).compareTo(b.get(0)))
            .toList());
    }

    private static Object describe(Admin admin, JsonNode args) throws Exception {
        Map<String, Object> answers = new TreeMap<>();
        var result = admin.describeTransactions(Outcome.texts(args.get("ids")));
        for (String id : Outcome.texts(args.get("ids"))) {
            answers.put(id, Outcome.of(result.description(id), found -> Map.of(
                "state", found.state().toString(),
                "epoch", found.producerEpoch(),
                "timeoutMs", found.transactionTimeoutMs(),
                "started", found.transactionStartTimeMs().isPresent(),
                "partitions", found.topicPartitions().stream().map(TopicPartition::toString).sorted().toList())));
        }
        return answers;
    }

    private static Object producers(Admin admin, JsonNode args) throws Exception {
        TopicPartition partition = ProducerCommand.partition(args.get("partition").asText());
        return Outcome.of(admin.describeProducers(List.of(partition)).partitionResult(partition), found -> {
            List<Map<String, Object>> rows = new ArrayList<>();
            for (var producer : found.activeProducers()) {
                rows.add(Map.of(
                    "producerId", producer.producerId(),
                    "epoch", producer.producerEpoch(),
                    "lastSequence", producer.lastSequence(),
                    "coordinatorEpoch", producer.coordinatorEpoch().orElse(-1),
                    "transactionStart", producer.currentTransactionStartOffset().orElse(-1)));
            }
            rows.sort((a, b) -> Long.compare((Long) a.get("producerId"), (Long) b.get("producerId")));
            return rows;
        });
    }
}
