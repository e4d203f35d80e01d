// dump-log: runs Kafka's DumpLogSegments over segment and index files and returns what it prints; used to compare logs.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * args: {files: [path], args: [other options], longest?: characters}. Answers {output: lines,
 * problems: text}: mismatches of indexes are printed to standard error and so are problems. Lines longer than `longest`
 * (default 4096) keep their first 512 characters and get the SHA-256 of the whole line.
 */
public final class DumpLogCommand implements Command {
    private static final int HEAD = 512;

    @Override
    public Object run(JsonNode args) throws Exception {
        List<String> command = new ArrayList<>();
        List<String> files = new ArrayList<>();
        args.get("files").forEach(file -> files.add(file.asText()));
        command.add("--files");
        command.add(String.join(",", files));
        args.path("args").forEach(option -> command.add(option.asText()));
        int longest = args.path("longest").asInt(4096);
        Class<?> tool = dumpLogSegments();
        DigestedLines out = new DigestedLines(longest, HEAD);
        java.io.ByteArrayOutputStream err = new java.io.ByteArrayOutputStream();
        try {
            OutputCapture.during(out, err, () -> invokeMain(tool, command.toArray(String[]::new)));
        } finally {
            System.out.flush();
            System.err.flush();
        }
        return java.util.Map.of("output", out.lines(), "problems", err.toString(StandardCharsets.UTF_8).strip());
    }

    /** It moved between packages after 3.9. */
    private static Class<?> dumpLogSegments() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.tools.DumpLogSegments");
        } catch (ClassNotFoundException older) {
            return Class.forName("kafka.tools.DumpLogSegments");
        }
    }

    private static void invokeMain(Class<?> tool, String[] command) throws Exception {
        try {
            tool.getMethod("main", String[].class).invoke(null, (Object) command);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Exception cause) throw cause;
            if (error.getCause() instanceof Error cause) throw cause;
            throw error;
        }
    }
}
