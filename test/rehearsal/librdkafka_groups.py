"""Consumers of librdkafka that read on as members of groups; a JSON request a line, a JSON answer a line; run by librdkafka-groups.ts."""

import json
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException

ledger = {}
lock = threading.Lock()
sessions = {}


def note(session, group, message):
    partition = "%s-%d" % (message.topic(), message.partition())
    with lock:
        places = ledger[session][group]
        place = places.setdefault(partition, {"runs": [], "committed": -1, "firstMs": int(time.time() * 1000)})
        runs, offset = place["runs"], message.offset()
        if runs and runs[-1][1] + 1 == offset:
            runs[-1][1] = offset
        else:
            runs.append([offset, offset])
    return partition


def commit(consumer, session, group):
    """Whether it was acknowledged is known: what is not is not noted."""
    try:
        committed = consumer.commit(asynchronous=False)
    except KafkaException:
        return
    with lock:
        for one in committed or []:
            place = ledger[session][group].get("%s-%d" % (one.topic, one.partition))
            if place is not None and one.error is None and one.offset >= 0:
                place["committed"] = one.offset


def consume(request, group, stopping):
    session = request["session"]
    consumer = Consumer({
        "bootstrap.servers": request["bootstrap"],
        "group.id": group["id"],
        "client.id": group["id"],
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "enable.auto.offset.store": True,
        "fetch.wait.max.ms": 100,
        "fetch.message.max.bytes": 8388608,
        "reconnect.backoff.max.ms": 500,
        **request.get("config", {}),
    })
    consumer.subscribe(group["topics"])
    polls = 0
    while not stopping.is_set():
        messages = [message for message in consumer.consume(50, 0.1) if message.error() is None]
        for message in messages:
            note(session, group["id"], message)
        polls += 1
        if group["commits"] and messages and polls % 3 == 0:
            commit(consumer, session, group["id"])
    consumer.close()


def handle(request):
    session = request["session"]
    if request["op"] == "start":
        stopping = threading.Event()
        ledger[session] = {group["id"]: {} for group in request["groups"]}
        threads = [threading.Thread(target=consume, args=(request, group, stopping), daemon=True) for group in request["groups"]]
        sessions[session] = (stopping, threads)
        for thread in threads:
            thread.start()
    if request["op"] == "stop":
        stopping, threads = sessions[session]
        stopping.set()
        for thread in threads:
            thread.join(15)
    with lock:
        return json.dumps(ledger[session])


for line in sys.stdin:
    print(handle(json.loads(line)), flush=True)
