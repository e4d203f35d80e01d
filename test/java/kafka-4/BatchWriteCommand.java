// batch-write: record batches written by Kafka's own classes, for the batch suite to read.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.ByteBufferOutputStream;

/** args: {batches: [{kind: records | marker | leader-change | ... | empty, ...}]}. Answers {bytes: base64}. */
public final class BatchWriteCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (JsonNode batch : args.get("batches")) {
            ByteBuffer bytes = write(batch);
            all.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
        }
        return Map.of("bytes", Base64.getEncoder().encodeToString(all.toByteArray()));
    }

    private static ByteBuffer write(JsonNode spec) {
        long offset = spec.path("baseOffset").asLong(0);
        long timestamp = spec.path("timestamp").asLong(0);
        int leaderEpoch = spec.path("leaderEpoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH);
        ByteBuffer room = ByteBuffer.allocate(1024);
        return switch (spec.get("kind").asText()) {
            case "records" -> records(spec).buffer();
            case "marker" -> marker(spec, offset, timestamp).buffer();
            case "empty" -> empty(spec, offset);
            case "leader-change" -> MemoryRecords.withLeaderChangeMessage(offset, timestamp, leaderEpoch, room,
                new LeaderChangeMessage().setLeaderId(3)).buffer();
            case "snapshot-header" -> MemoryRecords.withSnapshotHeaderRecord(offset, timestamp, leaderEpoch, room,
                new SnapshotHeaderRecord().setLastContainedLogTimestamp(timestamp)).buffer();
            case "snapshot-footer" -> MemoryRecords.withSnapshotFooterRecord(offset, timestamp, leaderEpoch, room,
                new SnapshotFooterRecord()).buffer();
            case "kraft-version" -> MemoryRecords.withKRaftVersionRecord(offset, timestamp, leaderEpoch, room,
                new KRaftVersionRecord().setKRaftVersion((short) 1)).buffer();
            case "kraft-voters" -> MemoryRecords.withVotersRecord(offset, timestamp, leaderEpoch, room,
                new VotersRecord().setVoters(List.of(new VotersRecord.Voter().setVoterId(3)))).buffer();
            default -> throw new IllegalArgumentException("unknown kind " + spec.get("kind"));
        };
    }

    private static MemoryRecords marker(JsonNode spec, long offset, long timestamp) {
        ControlRecordType type = ControlRecordType.valueOf(spec.get("type").asText());
        return MemoryRecords.withEndTransactionMarker(offset, timestamp, spec.path("leaderEpoch").asInt(-1),
            spec.get("producerId").asLong(), (short) spec.get("producerEpoch").asInt(),
            new EndTransactionMarker(type, spec.get("coordinatorEpoch").asInt()));
    }

    private static ByteBuffer empty(JsonNode spec, long offset) {
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(buffer, RecordBatch.CURRENT_MAGIC_VALUE, spec.get("producerId").asLong(),
            (short) spec.get("producerEpoch").asInt(), spec.get("baseSequence").asInt(), offset,
            spec.get("lastOffset").asLong(), spec.path("leaderEpoch").asInt(-1), TimestampType.CREATE_TIME,
            spec.get("timestamp").asLong(), spec.path("transactional").asBoolean(false), false);
        buffer.flip();
        return buffer;
    }

    private static MemoryRecords records(JsonNode spec) {
        boolean appendTime = spec.has("logAppendTime");
        Compression codec = Compression.of(CompressionType.forName(spec.path("compression").asText("none"))).build();
        try (MemoryRecordsBuilder builder = new MemoryRecordsBuilder(new ByteBufferOutputStream(4096),
            RecordBatch.CURRENT_MAGIC_VALUE, codec,
            appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
            spec.path("baseOffset").asLong(0), spec.path("logAppendTime").asLong(RecordBatch.NO_TIMESTAMP),
            spec.path("producerId").asLong(-1), (short) spec.path("producerEpoch").asInt(-1),
            spec.path("baseSequence").asInt(-1), spec.path("transactional").asBoolean(false), false,
            spec.path("leaderEpoch").asInt(-1), 0, spec.path("deleteHorizon").asLong(RecordBatch.NO_TIMESTAMP))) {
            for (JsonNode record : spec.get("records")) {
                builder.appendWithOffset(record.get("offset").asLong(), new SimpleRecord(
                    record.get("timestamp").asLong(), bytes(record.get("key")), bytes(record.get("value")),
                    headers(record.path("headers"))));
            }
            if (spec.has("lastOffset")) builder.overrideLastOffset(spec.get("lastOffset").asLong());
            return builder.build();
        }
    }

    private static Header[] headers(JsonNode headers) {
        Header[] result = new Header[headers.size()];
        for (int index = 0; index < result.length; index++) {
            JsonNode header = headers.get(index);
            result[index] = new RecordHeader(header.get("key").asText(), bytes(header.get("value")));
        }
        return result;
    }

    private static byte[] bytes(JsonNode base64) {
        return base64 == null || base64.isNull() ? null : Base64.getDecoder().decode(base64.asText());
    }
}
