// A client of the crash workload: an idempotent producer that writes numbered values; run by CrashLoadCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Values are NAME-PARTITION-NUMBER: of one partition their numbers ascend. Whatever it sends must be acknowledged in the end. */
record CrashWriter(JsonNode args, String name, Random random, CrashLedger ledger) implements CrashLoadCommand.Client {
    @Override
    public void live() throws Exception {
        String topic = args.get("plainTopic").asText();
        int partitions = args.get("partitions").asInt();
        var properties = Clients.properties(args, CrashLoadCommand.patient(Map.of("acks", "all")));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
            for (int number = 0; ledger.running(); ) {
                Map<String, Future<RecordMetadata>> sent = new LinkedHashMap<>();
                for (int count = 1 + random.nextInt(20); count > 0; count--, number++) {
                    int partition = random.nextInt(partitions);
                    String value = name + "-" + partition + "-" + number;
                    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
                    sent.put(value, producer.send(new ProducerRecord<>(topic, partition, null, bytes)));
                }
                for (var record : sent.entrySet()) {
                    RecordMetadata metadata = record.getValue().get();
                    ledger.wrote(record.getKey(), metadata.partition(), metadata.offset());
                }
                Thread.sleep(random.nextInt(40));
            }
        }
    }
}
