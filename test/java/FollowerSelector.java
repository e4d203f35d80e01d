// A broker's replica.selector.class that sends readers of some topics to a follower; a suite runs real brokers with it.
package lockstep;

import java.util.Comparator;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.replica.ClientMetadata;
import org.apache.kafka.common.replica.PartitionView;
import org.apache.kafka.common.replica.ReplicaSelector;
import org.apache.kafka.common.replica.ReplicaView;

/**
 * For topics whose name starts with "redirected" the leader never serves a reader while a follower has the offset; it
 * answers with the follower's id and no records (KIP-392), so only who goes there gets any.
 */
public final class FollowerSelector implements ReplicaSelector {
    @Override
    public Optional<ReplicaView> select(TopicPartition partition, ClientMetadata reader, PartitionView view) {
        if (!partition.topic().startsWith("redirected")) return Optional.of(view.leader());
        return view.replicas().stream()
            .filter(replica -> !replica.equals(view.leader()))
            .min(Comparator.comparing((ReplicaView replica) -> replica.endpoint().id()))
            .or(() -> Optional.of(view.leader()));
    }
}
