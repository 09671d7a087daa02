"""Chromium without a window, driven over the DevTools protocol with a WebSocket of our own."""

import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time

WAIT_S = 20  # for something that has to come; the limit is for a test that hangs


class WebSocket:
    """The client's side of RFC 6455, as far as DevTools use it: texts, perhaps in pieces."""

    def __init__(self, address):
        host, port, path = re.fullmatch(r'ws://([^:/]+):(\d+)(/.*)', address).groups()
        self.socket = socket.create_connection((host, int(port)), timeout=WAIT_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f'GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n'
                             f'Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n'
                             'Sec-WebSocket-Version: 13\r\n\r\n').encode())
        self.stream = self.socket.makefile('rb')
        status = self.stream.readline()
        if b' 101 ' not in status:
            raise AssertionError(f'no WebSocket: {status}')
        while self.stream.readline() != b'\r\n':
            pass

    def send(self, text):
        data = text.encode()
        if len(data) < 126:
            head = struct.pack('>BB', 0x81, 0x80 | len(data))
        elif len(data) < 65536:
            head = struct.pack('>BBH', 0x81, 0x80 | 126, len(data))
        else:
            head = struct.pack('>BBQ', 0x81, 0x80 | 127, len(data))
        self.socket.sendall(head + bytes(4) + data)  # masked with zeros, which changes nothing

    def receive(self):
        message = b''
        while True:
            first, length = struct.unpack('>BB', self.read(2))
            if length == 126:
                length = struct.unpack('>H', self.read(2))[0]
            elif length == 127:
                length = struct.unpack('>Q', self.read(8))[0]
            piece = self.read(length)
            if first & 0x0f in (0, 1, 2):
                message += piece
                if first & 0x80:
                    return message.decode()
            elif first & 0x0f == 8:
                raise AssertionError('the browser closed the connection')

    def read(self, count):
        data = self.stream.read(count)
        if len(data) < count:
            raise AssertionError('the browser is gone')
        return data


class Browser:
    """One browser with one page; `with` ends it and removes its folder."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--remote-debugging-port=0',
             f'--user-data-dir={self.folder}', '--no-first-run', '--disable-extensions',
             '--disable-background-networking', '--disable-component-update', '--disable-sync',
             '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb',
             'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number = 0
        self.events = []
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise

    def connect(self):
        self.link = WebSocket(self.find_address())
        pages = self.call('Target.getTargets', session=None)['targetInfos']
        page = next(target for target in pages if target['type'] == 'page')
        self.session = self.call('Target.attachToTarget', session=None, flatten=True,
                                 targetId=page['targetId'])['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(f'{domain}.enable')

    def find_address(self):
        """The browser writes port and path into its folder when it listens."""
        path = os.path.join(self.folder, 'DevToolsActivePort')
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self.process.poll() is None:
            if os.path.exists(path):
                with open(path, encoding='ascii') as file:
                    lines = file.read().split('\n')
                if len(lines) == 2:
                    return f'ws://127.0.0.1:{lines[0]}{lines[1]}'
            time.sleep(0.01)
        raise AssertionError('the browser did not start')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session='', **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if session is not None:
            message['sessionId'] = session or self.session
        self.link.send(json.dumps(message))
        while True:
            answer = json.loads(self.link.receive())
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise AssertionError(f'{method}: {answer["error"]}')
                return answer['result']
            self.events.append(answer)

    def evaluate(self, expression):
        """The value of a JavaScript expression; what it throws is an AssertionError."""
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise AssertionError(f'{expression}: {answer["exceptionDetails"]}')
        return answer['result'].get('value')

    def wait_for(self, expression):
        """Polls until an expression is true, and returns its value."""
        end = time.monotonic() + WAIT_S
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise AssertionError(f'waited in vain for {expression}')
            time.sleep(0.02)
        return value

    def point_at(self, expression, x_share=0.5):
        """Moves the mouse over an element, and returns where it is."""
        x, y = self.evaluate(
            f'(element => {{ element.scrollIntoView({{block: "center"}});'
            'const box = element.getBoundingClientRect();'
            f'return [box.x + box.width * {x_share}, box.y + box.height / 2]; }})({expression})')
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)
        return x, y

    def click(self, expression):
        """Clicks where an element is, so that what lies over it takes the click."""
        x, y = self.point_at(expression)
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def press(self, key):
        for kind in ('rawKeyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode={'ArrowLeft': 37, 'End': 35, 'Home': 36}[key])

    def set_look(self, width, height, scheme):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def screenshot(self, path, whole=True):
        data = self.call('Page.captureScreenshot', captureBeyondViewport=whole)['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))
