// delete-records: raises the log start of partitions; used by suites to set scenes.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;

/** args: {bootstrap, topic, before: {partition: offset}}. Answers {partition: low watermark}. */
public final class DeleteRecordsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        Map<TopicPartition, RecordsToDelete> request = new HashMap<>();
        args.get("before").fields().forEachRemaining(field -> request.put(
            new TopicPartition(topic, Integer.parseInt(field.getKey())),
            RecordsToDelete.beforeOffset(field.getValue().asLong())));
        Map<Integer, Long> lowWatermarks = new HashMap<>();
        for (var result : Clients.admin(args).deleteRecords(request).lowWatermarks().entrySet()) {
            lowWatermarks.put(result.getKey().partition(), result.getValue().get().lowWatermark());
        }
        return lowWatermarks;
    }
}
