// Offsets as runs of neighbours, so that long lists stay short; used by the rehearsal's commands.
package lockstep;

import java.util.ArrayList;
import java.util.List;

final class OffsetRuns {
    private final List<long[]> runs = new ArrayList<>();

    void add(long offset) {
        long[] last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
        if (last != null && last[1] + 1 == offset) last[1] = offset;
        else runs.add(new long[] {offset, offset});
    }

    /** [[first, last]] in the order in which they came. */
    List<long[]> runs() {
        List<long[]> copy = new ArrayList<>();
        for (long[] run : runs) copy.add(run.clone());
        return copy;
    }
}
