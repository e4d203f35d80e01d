// Lines of a stream, the long ones as their beginning and a digest, so that lines of many megabytes are never held; used by dump-log.
package lockstep;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Lines of more than `longest` bytes keep their first `head` bytes and get the SHA-256 of the whole line. */
final class DigestedLines extends OutputStream {
    private final int longest;
    private final int head;
    private final MessageDigest digest;
    private final List<String> lines = new ArrayList<>();
    /** The line so far, up to `longest` bytes. */
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean isLong;

    DigestedLines(int longest, int head) throws NoSuchAlgorithmException {
        this.longest = longest;
        this.head = head;
        this.digest = MessageDigest.getInstance("SHA-256");
    }

    /** With the last one, even if it has not ended. */
    List<String> lines() {
        if (line.size() > 0) endLine();
        return lines;
    }

    @Override
    public void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        int start = offset;
        for (int at = offset; at < offset + length; at++) {
            if (bytes[at] != '\n') continue;
            take(bytes, start, at - start);
            endLine();
            start = at + 1;
        }
        take(bytes, start, offset + length - start);
    }

    private void take(byte[] bytes, int offset, int length) {
        if (!isLong && line.size() + length > longest) {
            digest.update(line.toByteArray());
            isLong = true;
        }
        if (isLong) digest.update(bytes, offset, length);
        int kept = Math.min(length, longest - line.size());
        if (kept > 0) line.write(bytes, offset, kept);
    }

    private void endLine() {
        byte[] kept = line.toByteArray();
        if (isLong) lines.add(text(kept, Math.min(head, kept.length)) + "… sha256 " + HexFormat.of().formatHex(digest.digest()));
        else lines.add(text(kept, kept.length));
        line.reset();
        isLong = false;
    }

    private static String text(byte[] bytes, int length) {
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
