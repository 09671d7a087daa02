#!/usr/bin/env python3
"""Stands between the self-test and the server, and spoils some of what the server says, once each.

Started as if it were the server. SERVE_REAL is the server's program; SERVE_SPOILED, the file that
gets the names of what was spoiled.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading

first_version = []  # of all answers
CANARY = b'X-Keyway-Backend: canary'
DEFAULT = b'X-Keyway-Backend: default'


def reply(status, body):
    return (f'HTTP/1.1 {status} Spoiled\r\nContent-Type: application/json\r\n'
            f'Content-Length: {len(body)}\r\n\r\n').encode() + body


# Faults of one answer to the self-test's own client. Each gets how many answers of its version were
# left as they are, the head of the request and the answer, and returns None where it does not fit,
# True if it has changed the answer, or what is sent instead of it.

def backend_percent(count, head, data):
    # At the start nobody has set a percentage.
    if data['version'] == first_version[0] and b'X-Keyway' not in head:
        data['backend'] = 'canary'
        return True


def class_of_other(count, head, data):
    data['class'] = (data['class'] + 1) % 10
    return True


def label(count, head, data):
    data['label'] = 'Shoe'
    return True


def probabilities(count, head, data):
    data['probabilities'][3] += 0.01
    return True


def form(count, head, data):
    del data['logits'][9]
    return True


def operators(count, head, data):
    del data['operators']['nn::relu']
    return True


def no_json(count, head, data):
    return reply(200, b'{"class": 3,')


def version(count, head, data):
    if data['version'] > 5:
        data['version'] -= 3
        return True


def one_served(count, head, data):
    # Of two answers that differ the self-test finds that wrong which comes in later.
    if count > 50 and data['operators']['nn::relu'].startswith('reference@'):
        data['operators']['nn::relu'] = 'builtin'
        return True


def refused_canary(count, head, data):
    if DEFAULT in head:
        data['backend'] = 'canary'
        return True


def asked_canary(count, head, data):
    if CANARY in head and data['backend'] == 'canary':
        data['backend'] = 'default'
        return True


def canary_status(count, head, data):
    if CANARY in head and data['backend'] == 'canary':
        return reply(409, b'{"error": "a spoiled refusal"}')


def status(count, head, data):
    return reply(500, b'{"error": "a spoiled status"}')


def no_http(count, head, data):
    return b'NONSENSE\r\n\r\n'


def connection(count, head, data):
    return b''


OWN = [backend_percent, class_of_other, label, probabilities, form, operators, no_json, version,
       one_served, refused_canary, asked_canary, canary_status, status, no_http, connection]


# The same for wrk.

def wrk_class(count, head, data):
    data['class'] = (data['class'] + 1) % 10
    return True


def wrk_status(count, head, data):
    return reply(503, b'{"error": "a spoiled refusal of wrk"}')


WRK = [wrk_class, wrk_status]


# Faults of all answers of a version without the canary.

def ghost_served(data):
    data['operators']['nn::relu'] = 'ghost@1.0#1'


def other_loading_served(data):
    served = data['operators']['nn::relu']
    data['operators']['nn::relu'] = re.sub(r'#(\d+)', r'#9\1', served)


VERSIONS = [ghost_served, other_loading_served]


# Faults of changes: one that the server never hears of, and one that it has made.

def change_refused():
    return reply(409, b'{"error": "a spoiled change"}')


def change_of_other(data):
    data['generation'] += 1
    return reply(200, json.dumps(data).encode())


class Spoiler:
    def __init__(self):
        self.lock = threading.Lock()
        self.left = {'own': [*OWN], 'wrk': [*WRK], 'versions': [*VERSIONS],
                     'asked': [change_refused], 'changed': [change_of_other]}
        self.answers = 0
        self.metrics = 0
        self.plain = {}  # how many answers of a version and backend were left as they are
        self.versions = {}  # what is done to the answers of each
        self.done = open(os.environ['SERVE_SPOILED'], 'w', buffering=1)

    def note(self, kind, fault):
        self.left[kind].remove(fault)
        print(fault.__name__, file=self.done)

    def try_one(self, kind, *arguments):
        for fault in self.left[kind]:
            spoiled = fault(*arguments)
            if spoiled is not None:
                self.note(kind, fault)
                return spoiled
        return None

    def fault_of_version(self, data):
        """A version is spoiled from its first answer on, or not at all."""
        if data['version'] not in self.versions:
            left = self.left['versions']
            fits = data['operators']['nn::relu'].startswith('reference@')
            # What is right at one version is needed first, to make one answer differ.
            fault = left[0] if left and fits and one_served not in self.left['own'] else None
            self.versions[data['version']] = fault
            if fault is not None:
                self.note('versions', fault)
        return self.versions[data['version']]

    def predict(self, head, data):
        self.answers += 1
        first_version.append(data['version'])
        is_own = b'User-Agent: serve-selftest' in head
        fault = self.fault_of_version(data) if is_own and data['backend'] == 'default' else None
        spoiled = None
        if fault is not None:
            fault(data)
        else:
            kind = 'own' if is_own else 'wrk'
            count = self.plain.get((data['version'], data['backend']), 0)
            spoiled = self.try_one(kind, count, head, data)
        if fault is None and spoiled is None:
            key = data['version'], data['backend']
            self.plain[key] = self.plain.get(key, 0) + 1
        return spoiled if isinstance(spoiled, bytes) else reply(200, json.dumps(data).encode())

    def memory(self, text):
        """Everything grows from one look to the next."""
        self.metrics += 1
        for name, step in ((b'keyway_memory_bytes', 100000), (b'keyway_tensors', 1),
                           (b'process_resident_memory_bytes', 20000000)):
            text = re.sub(b'\n' + name + rb' (\d+)', lambda found: b'\n%s %d' % (
                name, int(found.group(1)) + step * self.metrics), text)
        return reply(200, text)

    def is_change(self, head):
        # Not a loading of the beginning: without it the run would end.
        return head.split(b' ', 2)[1].startswith(b'/v1/plugins/') and self.answers > 300

    def refuse(self, head):
        """Returns an answer that the server is not asked for, or None."""
        with self.lock:
            return self.try_one('asked') if self.is_change(head) else None

    def spoil(self, head, status, body):
        path = head.split(b' ', 2)[1]
        with self.lock:
            if path == b'/v1/predict' and status == 200:
                return self.predict(head, json.loads(body))
            if path == b'/metrics':
                return self.memory(body)
            spoiled = self.try_one('changed', json.loads(body)) if self.is_change(head) else None
        return spoiled or reply(status, body)


def read_message(connection, text):
    """Returns head, body and what is behind them; None at the end."""
    while b'\r\n\r\n' not in text:
        piece = connection.recv(65536)
        if not piece:
            return None
        text += piece
    head, _, text = text.partition(b'\r\n\r\n')
    length = re.search(rb'(?i)content-length: *(\d+)', head)
    count = int(length.group(1)) if length else 0
    while len(text) < count:
        piece = connection.recv(65536)
        if not piece:
            return None
        text += piece
    return head, text[:count], text[count:]


def relay(client, port, spoiler):
    rest = b''
    try:
        with client, socket.create_connection(('127.0.0.1', port)) as server:
            while (message := read_message(client, rest)) is not None:
                head, body, rest = message
                refusal = spoiler.refuse(head)
                if refusal is not None:
                    client.sendall(refusal)
                    return
                server.sendall(head + b'\r\n\r\n' + body)
                answer = read_message(server, b'')
                if answer is None:
                    return
                spoiled = spoiler.spoil(head, int(answer[0].split(b' ')[1]), answer[1])
                if not spoiled or b'Connection: close' in head:
                    client.sendall(spoiled)
                    return
                client.sendall(spoiled)
    except OSError:
        pass  # the other side may go at any time


def listen(port, spoiler):
    listener = socket.create_server(('127.0.0.1', 0), backlog=128)

    def accept():
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=relay, args=(client, port, spoiler), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def main():
    server = subprocess.Popen([os.environ['SERVE_REAL'], *sys.argv[1:]], stdout=subprocess.PIPE,
                              text=True)
    ports = re.findall(r'127\.0\.0\.1:(\d+)/', server.stdout.readline())
    spoiler = Spoiler()
    open_port, admin_port = (listen(int(port), spoiler) for port in ports)
    print(f'serving http://127.0.0.1:{open_port}/ administration http://127.0.0.1:{admin_port}/',
          flush=True)
    print(server.stdout.read(), end='')
    server.wait()
    return 3  # one more fault: not 0


sys.exit(main())
