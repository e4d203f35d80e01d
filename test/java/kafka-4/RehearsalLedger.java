// What the producers of a rehearsal were promised: every acknowledged record with its place and time; filled by RehearsalProducer, judged by RehearsalCheck.
package lockstep;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/** One for each side of a rehearsal. Safe for several threads. */
final class RehearsalLedger {
    /** How a transaction ended, as its producer knows; UNKNOWN is a commit that nobody answered. */
    enum End { OPEN, COMMITTED, ABORTED, UNKNOWN }

    static final class Transaction {
        End end = End.OPEN;
        /** When the commit was acknowledged. */
        long endedMs;
        final List<Entry> entries = new ArrayList<>();
    }

    /** `transaction` is null for records outside of one. */
    record Entry(TopicPartition partition, long offset, String id, String key, long checksum, long ackedMs, Transaction transaction) {
        boolean promised() {
            return transaction == null || transaction.end == End.COMMITTED;
        }

        /** When a reader of committed records could first count on it. */
        long promisedMs() {
            return transaction == null ? ackedMs : transaction.endedMs;
        }
    }

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final List<Transaction> transactions = new ArrayList<>();
    private long firstAckMs;
    private long lastAckMs;

    synchronized Transaction begin() {
        Transaction transaction = new Transaction();
        transactions.add(transaction);
        return transaction;
    }

    synchronized void end(Transaction transaction, End end) {
        transaction.end = end;
        transaction.endedMs = System.currentTimeMillis();
        if (end == End.COMMITTED) acknowledged(transaction.endedMs);
    }

    synchronized void add(Entry entry) {
        entries.put(entry.id(), entry);
        if (entry.transaction() == null) acknowledged(entry.ackedMs());
        else entry.transaction().entries.add(entry);
    }

    private void acknowledged(long ms) {
        if (firstAckMs == 0) firstAckMs = ms;
        lastAckMs = Math.max(lastAckMs, ms);
    }

    synchronized Map<String, Entry> entries() {
        return new HashMap<>(entries);
    }

    synchronized List<Transaction> transactions() {
        return List.copyOf(transactions);
    }

    /** {records: promised so far, transactions: {END: n}, firstAckMs, lastAckMs}; times are 0 where there is none. */
    synchronized Map<String, Object> summary() {
        Map<String, Integer> ends = new TreeMap<>();
        for (Transaction transaction : transactions) ends.merge(transaction.end.name(), 1, Integer::sum);
        long promised = entries.values().stream().filter(Entry::promised).count();
        return Map.of("records", promised, "transactions", ends, "firstAckMs", firstAckMs, "lastAckMs", lastAckMs);
    }
}
