"""confluent-kafka (librdkafka) as reader and writer; one JSON request on standard input; run by confluent.ts."""

import json
import select
import sys

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition


def text(data):
    return None if data is None else data.decode()


def read(request):
    consumer = Consumer({
        "bootstrap.servers": request["bootstrap"],
        "group.id": "unused",
        "isolation.level": request["isolation"],
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "check.crcs": True,
        "fetch.wait.max.ms": 50,
        "fetch.message.max.bytes": 33554432,
        "receive.message.max.bytes": 100000000,
        **request["config"],
    })
    partitions = consumer.list_topics(request["topic"], timeout=60).topics[request["topic"]].partitions
    # From the low watermark at once: reading from an offset that is gone would first be reset to the end.
    starts = []
    for partition in partitions:
        low, _ = consumer.get_watermark_offsets(TopicPartition(request["topic"], partition), timeout=60)
        starts.append(TopicPartition(request["topic"], partition, low))
    consumer.assign(starts)
    unfinished = set(partitions)
    records = []
    while unfinished:
        message = consumer.poll(60)
        if message is None:
            raise RuntimeError("no end of partitions %s" % unfinished)
        if message.error() is None:
            records.append({
                "partition": message.partition(),
                "offset": message.offset(),
                "timestamp": message.timestamp()[1],
                "key": text(message.key()),
                "value": text(message.value()),
                "headers": [[name, text(value)] for name, value in message.headers() or []],
            })
        elif message.error().code() == KafkaError._PARTITION_EOF:
            unfinished.discard(message.partition())
        else:
            raise KafkaException(message.error())
    consumer.close()
    return records


def write(request):
    failures = []
    producer = Producer({
        "bootstrap.servers": request["bootstrap"],
        "acks": request["acks"],
        "enable.idempotence": request["idempotent"],
        "compression.type": request["codec"],
        "linger.ms": 20,
        **request.get("config", {}),
    })

    def delivered(error, _message):
        if error is not None:
            failures.append(str(error))

    for record in request["records"]:
        producer.produce(
            request["topic"],
            partition=0,
            key=record["key"],
            value=record["value"],
            headers=[tuple(header) for header in record["headers"]],
            timestamp=record["timestamp"],
            on_delivery=delivered,
        )
    left = producer.flush(90)
    if left:
        failures.append("%d records were not delivered" % left)
    if failures:
        raise RuntimeError("; ".join(sorted(set(failures))))
    return None


def transactions(request):
    producer = Producer({
        "bootstrap.servers": request["bootstrap"],
        "transactional.id": request["transactionalId"],
        "linger.ms": 5,
    })
    producer.init_transactions(60)
    for transaction in request["transactions"]:
        producer.begin_transaction()
        for value in transaction["values"]:
            producer.produce(request["topic"], partition=0, value=value)
        if transaction["commit"]:
            producer.commit_transaction(60)
        else:
            producer.flush(60)
            producer.abort_transaction(60)
    return None


def group(request):
    consumer = Consumer({
        "bootstrap.servers": request["bootstrap"],
        "group.id": request["group"],
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 50,
        **request.get("config", {}),
    })
    consumer.subscribe([request["topic"]])
    seen = []
    while len(seen) < request["count"]:
        message = consumer.poll(60)
        if message is None:
            raise RuntimeError("%d of %d records" % (len(seen), request["count"]))
        if message.error() is not None:
            raise KafkaException(message.error())
        seen.append("%d:%d" % (message.partition(), message.offset()))
        if len(seen) % request.get("commitEvery", 1) == 0 or len(seen) == request["count"]:
            consumer.commit(asynchronous=False)
    consumer.close()
    return seen


def follow(request):
    """Prints each record as a line, until standard input ends."""
    consumer = Consumer({
        "bootstrap.servers": request["bootstrap"],
        "group.id": request["group"],
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 500,
        "fetch.wait.max.ms": 100,
        "socket.timeout.ms": 5000,
        "session.timeout.ms": 10000,
        "topic.metadata.refresh.interval.ms": 1000,
        "check.crcs": True,
        "error_cb": lambda error: None,
        "log_level": 0,
    })
    consumer.subscribe(request["topics"])
    while not select.select([sys.stdin], [], [], 0)[0]:
        for message in consumer.consume(500, 0.1):
            # What it tells it tries again.
            if message.error() is None:
                place = [message.topic(), message.partition(), message.offset(), text(message.value())]
                print(json.dumps(place))
        sys.stdout.flush()
    consumer.close()


if sys.argv[1] == "follow":
    follow(json.loads(sys.stdin.readline()))
    sys.exit(0)

json.dump({"read": read, "write": write, "transactions": transactions, "group": group}[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
