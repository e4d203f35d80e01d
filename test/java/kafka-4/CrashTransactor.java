// A client of the crash workload: a transactional producer that commits and aborts, with offsets; run by CrashLoadCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/** Values are NAME-TRANSACTION-NUMBER. The group NAME-group gets the number of the transaction as its offset. */
record CrashTransactor(JsonNode args, String name, Random random, CrashLedger ledger) implements CrashLoadCommand.Client {
    @Override
    public void live() throws Exception {
        KafkaProducer<byte[], byte[]> producer = open();
        try {
            for (int transaction = 1; ledger.running(); transaction++) {
                List<String> values = new ArrayList<>();
                if (!perform(producer, transaction, values)) {
                    producer.close(java.time.Duration.ZERO);
                    producer = open();
                }
                Thread.sleep(random.nextInt(40));
            }
        } finally {
            producer.close(java.time.Duration.ZERO);
        }
    }

    private KafkaProducer<byte[], byte[]> open() {
        Map<String, String> own = Map.of("transactional.id", name, "transaction.timeout.ms", "60000");
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(Clients.properties(args, CrashLoadCommand.patient(own)));
        patiently(producer::initTransactions);
        return producer;
    }

    /** False when the producer can do no more. */
    private boolean perform(KafkaProducer<byte[], byte[]> producer, int transaction, List<String> values) {
        boolean withOffsets = random.nextInt(3) > 0;
        boolean commits = random.nextInt(3) > 0;
        try {
            producer.beginTransaction();
            for (int count = 1 + random.nextInt(6); count > 0; count--) {
                String value = name + "-" + transaction + "-" + count;
                values.add(value);
                byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
                int partition = random.nextInt(args.get("partitions").asInt());
                producer.send(new ProducerRecord<>(args.get("transactionTopic").asText(), partition, null, bytes));
            }
            if (withOffsets) {
                producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition(args.get("plainTopic").asText(), 0), new OffsetAndMetadata(transaction)),
                    new ConsumerGroupMetadata(name + "-group"));
            }
            producer.flush();
        } catch (KafkaException error) {
            return abort(producer, values, "aborted");
        }
        if (!commits) return abort(producer, values, "aborted");
        try {
            patiently(producer::commitTransaction);
        } catch (KafkaException error) {
            return abort(producer, values, "unknown");
        }
        ledger.ended("committed", values);
        if (withOffsets) ledger.offset(name + "-group", args.get("plainTopic").asText() + "-0", transaction);
        return true;
    }

    private boolean abort(KafkaProducer<byte[], byte[]> producer, List<String> values, String outcome) {
        ledger.ended(outcome, values);
        try {
            patiently(producer::abortTransaction);
            return true;
        } catch (KafkaException fatal) {
            return false;
        }
    }

    /** A call that timed out may be made again. */
    private static void patiently(Runnable call) {
        for (int attempt = 0; ; attempt++) {
            try {
                call.run();
                return;
            } catch (TimeoutException late) {
                if (attempt == 3) throw late;
            }
        }
    }
}
