// run-tool: runs one of Kafka's command-line tools inside the driver; used by the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * args: {tool: class with a main method, args: [text]}. Answers {status, out, err, error?: class of the exception that
 * ended it}; status is 1 after an exception, as of a Java process.
 */
public final class RunToolCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        List<String> arguments = new ArrayList<>();
        args.path("args").forEach(argument -> arguments.add(argument.asText()));
        Class<?> tool = Class.forName(args.get("tool").asText());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Map<String, Object> answer = new HashMap<>(Map.of("status", 0));
        try {
            ToolExit exit;
            // Tools may keep what they count in static fields.
            synchronized (tool) {
                exit = ToolExit.during(() -> OutputCapture.during(out, err, () -> invokeMain(tool, arguments)));
            }
            if (exit != null) {
                answer.put("status", exit.status);
                if (exit.message != null) err.write(exit.message.getBytes(StandardCharsets.UTF_8));
            }
        } catch (Exception error) {
            answer.put("status", 1);
            answer.put("error", error.getClass().getSimpleName());
            err.write(String.valueOf(error).getBytes(StandardCharsets.UTF_8));
        }
        answer.put("out", out.toString(StandardCharsets.UTF_8));
        answer.put("err", err.toString(StandardCharsets.UTF_8));
        return answer;
    }

    private static void invokeMain(Class<?> tool, List<String> arguments) throws Exception {
        try {
            tool.getMethod("main", String[].class).invoke(null, (Object) arguments.toArray(String[]::new));
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Exception cause) throw cause;
            if (error.getCause() instanceof Error cause) throw cause;
            throw error;
        }
    }
}
