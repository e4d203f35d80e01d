// The resident Java process of the suites: reads one JSON request a line, answers one JSON line; see test/java/driver.ts.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Exit;

/** Requests are {id, command, args}; answers {id, result} or {id, error, stack}. Requests run side by side. */
public final class Driver {
    public static final ObjectMapper JSON = new ObjectMapper();

    private final PrintStream answers;
    private final Map<String, Command> commands = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private Driver(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        OutputCapture.install();
        Exit.setExitProcedure((status, message) -> ToolExit.raise(status, message));
        Exit.setHaltProcedure((status, message) -> ToolExit.raise(status, message));
        // A tool's hooks would wait for the end of this process.
        Exit.setShutdownHookAdder((name, hook) -> {});
        new Driver(answers).serve();
        System.exit(0);
    }

    private void serve() throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = JSON.readTree(line);
            threads.execute(() -> answer(request));
        }
    }

    private void answer(JsonNode request) {
        ObjectNode answer = JSON.createObjectNode().put("id", request.get("id").asLong());
        try {
            JsonNode args = request.path("args");
            JsonNode result = JSON.valueToTree(commandNamed(request.get("command").asText()).run(args));
            // A failure is a value of some commands.
            if (result.path("error").asText().equals("TimeoutException")) Clients.forgetAdmin(args);
            answer.set("result", result);
        } catch (Throwable error) {
            Throwable cause = error instanceof java.util.concurrent.ExecutionException ? error.getCause() : error;
            if (cause instanceof TimeoutException) Clients.forgetAdmin(request.path("args"));
            answer.put("error", cause.toString()).put("errorClass", cause.getClass().getSimpleName());
            answer.put("stack", stackOf(error));
        }
        synchronized (answers) {
            answers.println(answer);
            answers.flush();
        }
    }

    /** The command dump-log is the class DumpLogCommand of this package. */
    private Command commandNamed(String name) throws ReflectiveOperationException {
        Command known = commands.get(name);
        if (known != null) return known;
        StringBuilder className = new StringBuilder("lockstep.");
        for (String word : name.split("-")) {
            className.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        }
        Class<?> type = Class.forName(className.append("Command").toString());
        Command command = (Command) type.getDeclaredConstructor().newInstance();
        Command raced = commands.putIfAbsent(name, command);
        return raced == null ? command : raced;
    }

    private static String stackOf(Throwable error) {
        java.io.StringWriter text = new java.io.StringWriter();
        error.printStackTrace(new java.io.PrintWriter(text));
        return text.toString();
    }
}
