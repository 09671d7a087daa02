"""A client of the server for its tests: starts one on free ports, and talks to it."""

import http.client
import json
import os
import re
import socket
import struct
import subprocess
import threading

PIXELS = 784


class Server:
    """A server in a process of its own; `with` stops it and checks how it ended."""

    def __init__(self, program, plugins, data, *arguments, environment=None):
        self.process = subprocess.Popen(
            [program, '--port', '0', '--admin-port', '0', '--plugins', plugins, '--data', data,
             '--package', 'no-such-folder', *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        ports = re.findall(r'127\.0\.0\.1:(\d+)/', line)
        if len(ports) != 2:
            self.process.kill()
            raise AssertionError(f'the server did not start: {line}{self.process.stderr.read()}')
        self.port, self.admin_port = map(int, ports)
        self.output = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.output is None:
            if kind is None:
                self.stop()
            else:  # the test's own failure is what counts
                self.process.kill()
                print(*self.process.communicate())

    def finish(self):
        """Waits for the end and returns what was printed."""
        try:
            self.output, errors = self.process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.output, errors = self.process.communicate()
            raise AssertionError('the server does not end: ' + self.output + errors) from None
        self.errors = errors
        return self.output + errors

    def stop(self):
        """Asks it to stop, and checks that it took everything down."""
        status, _ = self.admin('POST', '/v1/stop')
        assert status == 202, status
        self.check_end()

    def check_end(self):
        text = self.finish()
        assert self.process.returncode == 0, f'status {self.process.returncode}: {text}'
        assert self.errors == '', self.errors

    def get(self, path, **headers):
        return request(self.port, 'GET', path, headers=headers)

    def admin(self, method, path, body=None, headers=None):
        return request(self.admin_port, method, path,
                       None if body is None else json.dumps(body), headers or {})

    def predict(self, pixels, headers=None, connection=None):
        return request(self.port, 'POST', '/v1/predict', bytes(pixels),
                       {'Content-Type': 'application/octet-stream', **(headers or {})}, connection)

    def change(self, name, word, **body):
        return self.admin('POST', f'/v1/plugins/{name}/{word}', body or None)


def connect(port):
    return http.client.HTTPConnection('127.0.0.1', port, timeout=100)


def request(port, method, path, body=None, headers=None, connection=None):
    """Returns the status, and the body as JSON where it is some, else as text."""
    used = connection or connect(port)
    used.request(method, path, body, headers or {})
    response = used.getresponse()
    text = response.read().decode()
    if connection is None:
        used.close()
    if response.getheader('Content-Type') == 'application/json':
        return response.status, json.loads(text)
    return response.status, text


def same(found, expected):
    assert found == expected, f'{found!r} is not {expected!r}'


def is_error(answer, status, part):
    """A refusal has its status and a sentence that says why."""
    same(answer[0], status)
    assert part in answer[1]['error'], answer


def wait_for(what, condition):
    """Polls for something that has to come; the limit is for a test that hangs."""
    for _ in range(6000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError(f'waited in vain for {what}')


def raw(port, text):
    """Sends bytes that no client would send, and returns what comes back."""
    with socket.create_connection(('127.0.0.1', port), timeout=100) as connection:
        connection.sendall(text)
        answer = b''
        while piece := connection.recv(65536):
            answer += piece
        return answer.decode()


def is_refused(server):
    try:
        return server.get('/healthz')[0] != 200
    except OSError:
        return True
    except Exception as error:  # http.client's own: the connection was closed without an answer
        return 'RemoteDisconnected' in type(error).__name__


def figure(server, name):
    lines = server.get('/metrics')[1].splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith(name + ' '))


class Sample:
    """The 512 images of the repository, with their labels and the reference's logits."""

    def __init__(self, folder):
        def read(name):
            with open(os.path.join(folder, name), 'rb') as file:
                return file.read()
        images = read('sample-images.bin')
        self.count = struct.unpack('>I', images[4:8])[0]
        self.images = images[16:]
        self.labels = read('sample-labels.bin')[8:]
        logits = struct.unpack(f'<{10 * self.count}f', read('reference-10k.bin')[:40 * self.count])
        self.logits = [logits[10 * i:10 * i + 10] for i in range(self.count)]

    def image(self, index):
        return self.images[PIXELS * index:PIXELS * (index + 1)]

    def check(self, index, answer):
        """An answer is right if its class and its logits are the reference's."""
        expected = self.logits[index]
        assert answer['class'] == expected.index(max(expected)), (index, answer)
        distance = max(abs(a - b) for a, b in zip(answer['logits'], expected))
        assert distance < 1e-3, (index, distance)
