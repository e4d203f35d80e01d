// offsets-for-times: the offset that a partition gives for each of many timestamps; used by suites to compare time indexes.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** args: {bootstrap, topic, partition, timestamps: [ms]}. Answers [[offset, timestamp]] in the same order, -1 for none. */
public final class OffsetsForTimesCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        TopicPartition partition = new TopicPartition(args.get("topic").asText(), args.get("partition").asInt());
        List<KafkaFuture<ListOffsetsResult.ListOffsetsResultInfo>> asked = new ArrayList<>();
        for (JsonNode timestamp : args.get("timestamps")) {
            Map<TopicPartition, OffsetSpec> question = new HashMap<>();
            question.put(partition, OffsetSpec.forTimestamp(timestamp.asLong()));
            asked.add(admin.listOffsets(question).partitionResult(partition));
        }
        List<List<Long>> answers = new ArrayList<>();
        for (var future : asked) answers.add(List.of(future.get().offset(), future.get().timestamp()));
        return answers;
    }
}
