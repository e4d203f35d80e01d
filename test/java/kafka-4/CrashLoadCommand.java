// crash-load: clients that write, commit and abort without pause while a node dies under them, with a ledger of what they were promised.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * args: {op, ...}. op: `start` {bootstrap, seed, partitions, plainTopic, transactionTopic, writers, transactors}, `progress`: how
 * much is promised so far, see CrashLedger; `pause`: nobody begins anything new until
 * `resume`; `stop`: ends the clients, throws what one of them could not go on with, and answers
 * all promises.
 */
public final class CrashLoadCommand implements Command {
    private final List<Thread> threads = new ArrayList<>();
    private CrashLedger ledger = new CrashLedger();

    @Override
    public synchronized Object run(JsonNode args) throws Exception {
        switch (args.get("op").asText()) {
            case "start" -> start(args);
            case "pause" -> ledger.pause(true);
            case "resume" -> ledger.pause(false);
            case "stop" -> {
                ledger.stop();
                for (Thread thread : threads) thread.join(TimeUnit.MINUTES.toMillis(3));
                threads.clear();
            }
            default -> {}
        }
        if (ledger.failure() != null) throw new IllegalStateException("a client could not go on", ledger.failure());
        return args.get("op").asText().equals("stop") ? ledger.promises() : ledger.progress();
    }

    private void start(JsonNode args) {
        ledger = new CrashLedger();
        long seed = args.get("seed").asLong();
        for (int index = 0; index < args.get("writers").asInt(); index++) {
            begin(new CrashWriter(args, "w" + index, new Random(seed + index), ledger));
        }
        for (int index = 0; index < args.get("transactors").asInt(); index++) {
            begin(new CrashTransactor(args, "t" + index, new Random(seed + 100 + index), ledger));
        }
        begin(new CrashCommitter(args, false, ledger));
        begin(new CrashCommitter(args, true, ledger));
    }

    interface Client {
        void live() throws Exception;
    }

    private void begin(Client client) {
        Thread thread = new Thread(() -> {
            try {
                client.live();
            } catch (Throwable error) {
                ledger.fail(error);
            }
        });
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    /** Properties of clients that outlive a node that is away for a minute. */
    static Map<String, String> patient(Map<String, String> more) {
        Map<String, String> properties = new java.util.HashMap<>(more);
        properties.put("request.timeout.ms", "5000");
        properties.put("delivery.timeout.ms", "240000");
        properties.put("max.block.ms", "120000");
        properties.put("default.api.timeout.ms", "120000");
        properties.put("reconnect.backoff.max.ms", "500");
        properties.put("retry.backoff.max.ms", "500");
        properties.put("linger.ms", "5");
        return properties;
    }
}
