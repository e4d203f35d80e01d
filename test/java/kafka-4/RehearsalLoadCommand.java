// rehearsal-load: sessions of producers with a ledger of what they were promised, and the comparison of a cluster with those ledgers.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * args: {op, session, ...}. op: `start` {bootstrap, properties?, seed, producers: [plan as in RehearsalProducer]}; `await`: until
 * producers with a number of records have written them; `stop`: the producers end what they have begun; `abandon`: their
 * cluster is gone; `summary`. All but the first answer the ledger's summary and throw what a producer threw. `check` {bootstrap,
 * properties?, topics: [name], sessions: [name], compacted: [name], starts?, ends?} answers as RehearsalCheck.
 */
public final class RehearsalLoadCommand implements Command {
    private final Map<String, Session> sessions = new ConcurrentHashMap<>();

    private record Session(RehearsalLedger ledger, List<RehearsalProducer> producers, List<Thread> threads) {}

    @Override
    public Object run(JsonNode args) throws Exception {
        String op = args.get("op").asText();
        if (op.equals("check")) return check(args);
        Session session = sessions.computeIfAbsent(
            args.get("session").asText(), name -> new Session(new RehearsalLedger(), new ArrayList<>(), new ArrayList<>()));
        switch (op) {
            case "start" -> start(args, session);
            case "stop" -> session.producers.forEach(RehearsalProducer::stop);
            case "abandon" -> session.producers.forEach(RehearsalProducer::abandon);
            default -> {}
        }
        if (List.of("await", "stop", "abandon").contains(op)) for (Thread thread : session.threads) thread.join(180_000);
        for (RehearsalProducer producer : session.producers)
            if (producer.failure != null) throw new IllegalStateException("a producer could not go on", producer.failure);
        return session.ledger.summary();
    }

    /** Once more for the same session: further producers for its ledger. */
    private void start(JsonNode args, Session session) {
        session.producers.clear();
        session.threads.clear();
        for (JsonNode plan : args.get("producers")) {
            RehearsalProducer producer = new RehearsalProducer(args, plan, session.ledger);
            Thread thread = new Thread(producer, plan.get("name").asText());
            thread.setDaemon(true);
            session.producers.add(producer);
            session.threads.add(thread);
        }
        session.threads.forEach(Thread::start);
    }

    private Object check(JsonNode args) throws Exception {
        Map<String, RehearsalLedger> ledgers = new LinkedHashMap<>();
        args.get("sessions").forEach(name -> ledgers.put(name.asText(), sessions.get(name.asText()).ledger));
        return new RehearsalCheck(args, ledgers).run();
    }
}
