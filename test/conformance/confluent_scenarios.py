"""confluent-kafka (librdkafka) in the conformance suite: one JSON request on standard input, a list of [step, result] as answer."""

import json
import sys
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

steps = []


def step(name, action):
    try:
        seen = action()
    except KafkaException as error:
        seen = "throws " + error.args[0].name()
    steps.append([name, seen])


def later(name, action, seconds=120):
    """Like step, for what a broker hears of a moment after the answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            action()
            break
        except KafkaException:
            time.sleep(0.05)
    step(name, action)


def each(futures):
    """What each future gives or fails with, under the text of its key."""
    outcomes = {}
    for key, future in futures.items():
        try:
            future.result(60)
            outcomes[str(key)] = "ok"
        except KafkaException as error:
            outcomes[str(key)] = error.args[0].name()
    return outcomes


def base(request):
    return {"bootstrap.servers": request["bootstrap"], "client.id": "librdkafka"}


def administer(request):
    admin = AdminClient(base(request))
    topics = [NewTopic("rd-admin", 2, 1, config={"retention.ms": "60000"}), NewTopic("rd bad", 1, 1)]
    step("create", lambda: each(admin.create_topics(topics)))
    step("create again", lambda: each(admin.create_topics([NewTopic("rd-admin", 1, 1)])))
    step("grow", lambda: each(admin.create_partitions([NewPartitions("rd-admin", 3), NewPartitions("rd-nobody", 3)])))
    resource = ConfigResource("TOPIC", "rd-admin")

    def configs():
        found = list(admin.describe_configs([resource]).values())[0].result(60)
        return {key: found[key].value for key in ("retention.ms", "cleanup.policy")}

    later("configs", configs)
    step("cluster", lambda: [node.id for node in admin.describe_cluster().result(60).nodes])
    step("delete", lambda: each(admin.delete_topics(["rd-admin", "rd-nobody"])))


def read(request, count):
    consumer = Consumer({
        **base(request),
        "group.id": "rd-group",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 30000,
    })
    consumer.subscribe(["rd-group"])
    values = []
    for _ in range(900):
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            values.append("%d@%d %s" % (message.partition(), message.offset(), message.value().decode()))
        if len(values) >= count:
            break
    consumer.commit(asynchronous=False)
    consumer.close()
    return sorted(values)


def groups(request):
    producer = Producer({**base(request), "enable.idempotence": True, "linger.ms": 20})
    for index in range(6):
        producer.produce("rd-group", partition=index % 2, key="k%d" % index, value="v%d" % index)
    step("left over", lambda: producer.flush(60))
    step("read", lambda: read(request, 6))
    producer.produce("rd-group", partition=1, value="more")
    producer.flush(60)
    step("read on", lambda: read(request, 1))
    admin = AdminClient(base(request))

    def offsets():
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("rd-group")])["rd-group"]
        return sorted([part.topic, part.partition, part.offset] for part in asked.result(60).topic_partitions)

    def described():
        group = admin.describe_consumer_groups(["rd-group"])["rd-group"].result(60)
        return [group.state.name, group.is_simple_consumer_group, len(group.members)]

    def altered():
        place = [TopicPartition("rd-group", 0, 1)]
        asked = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions("rd-group", place)])["rd-group"]
        return [[part.partition, str(part.error)] for part in asked.result(60).topic_partitions]

    step("offsets", offsets)
    step("described", described)
    step("alter offsets", altered)
    step("offsets then", offsets)
    step("delete", lambda: each(admin.delete_consumer_groups(["rd-group"])))
    step("delete again", lambda: each(admin.delete_consumer_groups(["rd-group"])))


def member(request, **more):
    """Of a group of the consumer protocol (KIP-848)."""
    return Consumer({
        **base(request),
        "group.id": "rd-protocol",
        "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        **more,
    })


def poll(consumers, done, seconds=120):
    """Lets the members work until they are done; what they read meanwhile."""
    values = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for consumer in consumers:
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                values.append("%d@%d %s" % (message.partition(), message.offset(), message.value().decode()))
        if done(values):
            break
    return sorted(values)


def protocol(request):
    producer = Producer({**base(request), "linger.ms": 20})

    def write(value):
        for partition in range(2):
            producer.produce("rd-protocol", partition=partition, value=value)
        producer.flush(60)

    def held(consumer):
        return sorted(part.partition for part in consumer.assignment())

    write("first")
    one = member(request, **{"group.remote.assignor": "range"})
    one.subscribe(["rd-protocol"])
    step("alone", lambda: [poll([one], lambda values: len(values) >= 2), held(one)])
    step("commit", lambda: sorted([part.partition, part.offset] for part in one.commit(asynchronous=False)))
    two = member(request)
    two.subscribe(["^rd-proto.*"])
    both = [one, two]
    step("shared", lambda: [poll(both, lambda _: len(held(one)) == 1 and len(held(two)) == 1), sorted(held(one) + held(two))])
    write("second")
    step("read by both", lambda: poll(both, lambda values: len(values) >= 2))
    for consumer in both:
        consumer.commit(asynchronous=False)
    one.close()
    step("taken over", lambda: [poll([two], lambda _: len(held(two)) == 2), held(two)])
    admin = AdminClient(base(request))

    def described():
        group = admin.describe_consumer_groups(["rd-protocol"])["rd-protocol"].result(60)
        return [group.state.name, group.type.name, len(group.members)]

    def stable():
        # A member has its partitions before it has told so, which is what the group waits for.
        poll([two], lambda _: described()[0] == "STABLE")
        return described()

    later("described", stable)
    two.close()
    static = member(request, **{"group.instance.id": "rd-static"})
    static.subscribe(["rd-protocol"])
    step("static", lambda: [poll([static], lambda _: len(held(static)) == 2), held(static)])
    static.close()
    write("third")
    again = member(request, **{"group.instance.id": "rd-static"})
    again.subscribe(["rd-protocol"])
    step("static again", lambda: poll([again], lambda values: len(values) >= 2))
    # Who takes a partition over would read it again.
    again.commit(asynchronous=False)
    classic = Consumer({**base(request), "group.id": "rd-protocol", "auto.offset.reset": "earliest"})
    classic.subscribe(["rd-protocol"])
    step("migrated", lambda: [poll([again, classic], lambda _: len(held(again)) == 1 and len(held(classic)) == 1), sorted(held(again) + held(classic))])
    again.close()
    classic.close()


def transact(request):
    producer = Producer({**base(request), "transactional.id": "rd-transactions"})
    step("init", lambda: producer.init_transactions(60))
    consumer = Consumer({**base(request), "group.id": "rd-transactions"})
    for value, commits in (("committed", True), ("aborted", False), ("committed too", True)):
        producer.begin_transaction()
        producer.produce("rd-transactions", partition=0, value=value)
        if commits:
            place = [TopicPartition("rd-transactions", 0, len(value))]
            step(value + ": offsets", lambda: producer.send_offsets_to_transaction(place, consumer.consumer_group_metadata(), 60))
        step(value, lambda: producer.commit_transaction(60) if commits else producer.abort_transaction(60))
    fencing = Producer({**base(request), "transactional.id": "rd-transactions"})
    producer.begin_transaction()
    producer.produce("rd-transactions", partition=0, value="fenced")
    producer.flush(60)
    step("the next one", lambda: fencing.init_transactions(60))
    step("fenced", lambda: producer.commit_transaction(60))
    consumer.close()


request = json.load(sys.stdin)
{"administer": administer, "groups": groups, "protocol": protocol, "transact": transact}[request["what"]](request)
json.dump(steps, sys.stdout)
