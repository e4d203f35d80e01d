// produce: writes generated or given records with every knob that the suites need; used by suites to set scenes.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * args: {bootstrap, topic, partition?, codec?, acks? (all), idempotent? (true), properties?, batch? (records sent
 * between flushes, so the most records in a batch; default all), records: [...] or generate: {...} as in RecordSource,
 * transaction?: {id, end: commit | abort | open}}. An open transaction stays open until `end-transaction` or the end
 * of the driver. Answers {count, first: {partition: offset}, last: {partition: offset}}.
 */
public final class ProduceCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        JsonNode transaction = args.path("transaction");
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Clients.properties(args, defaults(args)));
        boolean leftOpen = false;
        try {
            if (transaction.isObject()) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            Map<String, Object> result = send(producer, args);
            switch (transaction.path("end").asText("")) {
                case "commit" -> producer.commitTransaction();
                case "abort" -> producer.abortTransaction();
                case "open" -> {
                    Clients.OPEN.put(transaction.get("id").asText(), producer);
                    leftOpen = true;
                }
                default -> {}
            }
            if (transaction.isObject() && !leftOpen) TransactionEnd.await(args, transaction.get("id").asText());
            return result;
        } finally {
            if (!leftOpen) producer.close(java.time.Duration.ZERO);
        }
    }

    private static Map<String, String> defaults(JsonNode args) {
        Map<String, String> defaults = new HashMap<>();
        defaults.put("acks", args.path("acks").asText("all"));
        defaults.put("compression.type", args.path("codec").asText("none"));
        defaults.put("enable.idempotence", String.valueOf(args.path("idempotent").asBoolean(true) && !defaults.get("acks").matches("0|1")));
        defaults.put("linger.ms", "1000");
        defaults.put("batch.size", "1000000");
        defaults.put("max.request.size", "41943040");
        defaults.put("buffer.memory", "134217728");
        defaults.put("max.block.ms", "60000");
        defaults.put("request.timeout.ms", "30000");
        defaults.put("delivery.timeout.ms", "120000");
        if (args.path("transaction").isObject()) {
            defaults.put("transactional.id", args.path("transaction").get("id").asText());
            defaults.put("transaction.timeout.ms", "600000");
        }
        return defaults;
    }

    private static Map<String, Object> send(KafkaProducer<byte[], byte[]> producer, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        Integer partition = args.has("partition") ? args.get("partition").asInt() : null;
        int batch = args.path("batch").asInt(Integer.MAX_VALUE);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (var record : RecordSource.of(args)) {
            sent.add(producer.send(new ProducerRecord<>(
                topic, partition, record.timestamp(), record.key(), record.value(), record.headers())));
            if (sent.size() % batch == 0) producer.flush();
        }
        producer.flush();
        Map<Integer, Long> first = new HashMap<>();
        Map<Integer, Long> last = new HashMap<>();
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata metadata = future.get();
            first.putIfAbsent(metadata.partition(), metadata.offset());
            last.put(metadata.partition(), metadata.offset());
        }
        return Map.of("count", sent.size(), "first", first, "last", last);
    }
}
