// batch-read: what Kafka's own classes see in the bytes of record batches; used by the batch suite.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.TimestampType;

/** args: {bytes: base64}. Answers {validBytes, batches}; throws what Kafka throws for a batch that is not valid. */
public final class BatchReadCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        MemoryRecords records = MemoryRecords.readableRecords(
            ByteBuffer.wrap(Base64.getDecoder().decode(args.get("bytes").asText())));
        List<Object> batches = new ArrayList<>();
        for (MutableRecordBatch batch : records.batches()) {
            batch.ensureValid();
            batches.add(describe((DefaultRecordBatch) batch));
        }
        return Map.of("validBytes", records.validBytes(), "batches", batches);
    }

    private static Map<String, Object> describe(DefaultRecordBatch batch) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("sizeBytes", batch.sizeInBytes());
        fields.put("baseOffset", batch.baseOffset());
        fields.put("lastOffset", batch.lastOffset());
        fields.put("leaderEpoch", batch.partitionLeaderEpoch());
        fields.put("magic", batch.magic());
        fields.put("crc", batch.checksum());
        fields.put("compression", batch.compressionType().name);
        fields.put("logAppendTime", batch.timestampType() == TimestampType.LOG_APPEND_TIME);
        fields.put("transactional", batch.isTransactional());
        fields.put("control", batch.isControlBatch());
        fields.put("deleteHorizon", batch.deleteHorizonMs().isPresent());
        fields.put("baseTimestamp", Long.toString(batch.baseTimestamp()));
        fields.put("maxTimestamp", Long.toString(batch.maxTimestamp()));
        fields.put("producerId", Long.toString(batch.producerId()));
        fields.put("producerEpoch", batch.producerEpoch());
        fields.put("baseSequence", batch.baseSequence());
        fields.put("lastSequence", batch.lastSequence());
        fields.put("recordCount", batch.countOrNull());
        List<Object> records = new ArrayList<>();
        List<Object> controls = new ArrayList<>();
        for (Record record : batch) {
            record.ensureValid();
            records.add(describe(record));
            if (batch.isControlBatch()) controls.add(describeControl(record));
        }
        fields.put("records", records);
        fields.put("controls", controls);
        return fields;
    }

    private static Map<String, Object> describe(Record record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("key", header.key());
            fields.put("value", header.value() == null ? null : Base64.getEncoder().encodeToString(header.value()));
            headers.add(fields);
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("offset", record.offset());
        fields.put("timestamp", Long.toString(record.timestamp()));
        fields.put("key", base64(record.key()));
        fields.put("value", base64(record.value()));
        fields.put("headers", headers);
        return fields;
    }

    private static Map<String, Object> describeControl(Record record) {
        ControlRecordType type = ControlRecordType.parse(record.key());
        boolean isMarker = type == ControlRecordType.ABORT || type == ControlRecordType.COMMIT;
        int epoch = isMarker ? EndTransactionMarker.deserialize(record).coordinatorEpoch() : -1;
        return Map.of("type", type.name(), "coordinatorEpoch", epoch);
    }

    private static String base64(ByteBuffer buffer) {
        if (buffer == null) return null;
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
