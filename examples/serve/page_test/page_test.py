#!/usr/bin/env python3
"""Test of the page in a real browser.

page_test.py PROGRAM PLUGIN_FOLDER DATA_FOLDER CHROMIUM works through the page with the plugins of
the server's tests; with --screenshots FOLDER it writes pictures of it instead, and loads whatever
plugins the folder has.
"""

import argparse
import os
import re
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'server_test'))

from chromium import Browser  # noqa: E402
from client import Sample, Server  # noqa: E402

WIDTHS = (1280, 420)
SCHEMES = ('light', 'dark')
JUMPS_MAX = 0.02  # layout shift, where a page below 0.1 counts as steady
GONE = ('ERR_CONNECTION_REFUSED', 'ERR_INCOMPLETE_CHUNKED_ENCODING', 'ERR_EMPTY_RESPONSE',
        'ERR_CONNECTION_RESET', 'status of 503')


def row(name):
    return f'document.querySelector(\'.plugin[data-name="{name}"]\')'


def button(name, label):
    return f'document.querySelector(\'button[aria-label="{label} {name}"]\')'


def entry(operator, key):
    """The entry of an operator's table for a key."""
    return (f'[...document.querySelectorAll("table")].find(table => table.querySelector'
            f'(".operator").textContent === "{operator}")?.querySelectorAll("tbody tr").values()'
            f'.find(row => row.querySelector(".key").firstChild.textContent === "{key}")')


def serves(operator, key):
    return f'{entry(operator, key)}?.querySelector(".serves").textContent'


def same(found, expected):
    assert found == expected, f'{found!r} is not {expected!r}'


class PageTest:
    """What the steps share: the browser, the server and how to look at the page."""

    def __init__(self, arguments, browser, gate):
        self.arguments = arguments
        self.browser = browser
        self.gate = gate
        self.sees = browser.evaluate
        self.waits = browser.wait_for

    def start(self, *more):
        return Server(self.arguments.program, self.arguments.plugins, self.arguments.data, *more,
                      environment={'SERVE_TEST_GATE': self.gate})

    def open(self, server):
        self.browser.call('Page.navigate', url=f'http://127.0.0.1:{server.port}/')
        self.waits('document.getElementById("connection")?.dataset.state === "open"')
        with open(os.path.join(HERE, 'checks.js'), encoding='utf-8') as file:
            self.sees(file.read())

    def click(self, name, label):
        """Clicks a button as soon as it can be used."""
        self.waits(f'{button(name, label)}.ariaDisabled === "false"')
        self.browser.click(button(name, label))

    def click_in_vain(self, name, label, reason):
        """A button that cannot be used says why, as a tooltip and when it is clicked."""
        self.waits(f'{button(name, label)}.title === "{reason}"')
        same(self.sees(f'{button(name, label)}.ariaDisabled'), 'true')
        self.browser.click(button(name, label))
        same(self.message(name), reason)

    def choose(self, name, file):
        self.sees(f'{row(name)}.querySelector("select").value = "{file}"')
        same(self.sees(f'{row(name)}.querySelector("select").value'), file)

    def state(self, name):
        return self.sees(f'{row(name)}.querySelector(".state").textContent')

    def message(self, name):
        return self.sees(f'{row(name)}.querySelector(".message").textContent')

    def check_contrast(self):
        same(self.sees('pageTest.paleTexts()'), [])

    def waits_for_entry(self, operator, key, label):
        self.waits(f'{serves(operator, key)} === "{label}"')

    def waits_for_state(self, name, state):
        self.waits(f'{row(name)}.querySelector(".state").textContent === "{state}"')

    def waits_for_commit(self, text):
        self.waits('document.querySelector("#commits .what")?.textContent.startsWith'
                   f'({text!r})')

    def waits_for_images(self, condition):
        """Until all images are answered in a certain way."""
        self.waits('(cells => cells.length === 24 && cells.every(cell => '
                   f'{condition}))([...document.querySelectorAll("#images li")])')


def changes(test):
    """Load, a refusal, replace, roll back and unload: the table and the commits tell of each."""
    test.sees('(rate => { rate.value = "50"; rate.dispatchEvent(new Event("change")); })'
              '(document.getElementById("rate"))')
    test.waits_for_images('["right", "wrong"].includes(cell.dataset.outcome)')
    same(test.sees('document.querySelectorAll("#tables table").length'), 5)
    test.waits_for_entry('nn::softmax', 'CPU', 'builtin')
    same(test.state('mark'), 'not loaded')
    test.click('mark', 'Load')
    test.waits_for_entry('nn::softmax', 'CPU', 'mark@1.0#1')
    test.waits_for_state('mark', 'serving')
    test.waits_for_commit('softmax: builtin → mark 1.0')
    test.waits(f'{entry("nn::softmax", "CPU")}.classList.contains("last")')
    test.waits(f'{row("mark")}.querySelector(".detail").textContent.includes("runs softmax")')

    test.click_in_vain('mark', 'Load', 'mark serves already; replace it.')
    test.click_in_vain('mark', 'Roll back',
                       'There is no version of mark to go back to; replace it first.')
    test.choose('mark', 'serve_broken.so')
    test.click('mark', 'Replace')
    test.waits(f'{row("mark")}.querySelector(".message").classList.contains("bad")')
    same(test.message('mark'), 'serve_broken.so is no plugin: it is not an ELF file.')
    same(test.sees('document.getElementById("said").textContent'), test.message('mark'))
    same(test.sees(serves('nn::softmax', 'CPU')), 'mark@1.0#1')

    test.choose('mark', 'serve_mark_two.so')
    test.click('mark', 'Replace')
    test.waits_for_entry('nn::softmax', 'CPU', 'mark@2.0#2')
    test.waits_for_commit('softmax: mark 1.0 → mark 2.0')
    same(test.message('mark'), '')
    test.click('mark', 'Roll back')
    test.waits_for_entry('nn::softmax', 'CPU', 'mark@1.0#3')
    test.click('mark', 'Unload')
    test.waits_for_entry('nn::softmax', 'CPU', 'builtin')
    test.waits_for_state('mark', 'not loaded')
    test.waits_for_commit('softmax: mark 1.0 → builtin')


def images(test):
    """Nothing is sent during a pause, so other images stay without an answer until it ends."""
    pause = 'document.getElementById("pause")'
    test.browser.click(pause)
    same(test.sees(f'{pause}.textContent'), 'Go on')
    test.browser.click('document.getElementById("others")')
    test.waits_for_images('cell.dataset.outcome === "none"')
    test.sees('new Promise(done => setTimeout(done, 200))')  # in which ten would be sent
    same(test.sees('document.querySelectorAll("#images [data-outcome=none]").length'), 24)
    test.browser.click(pause)
    test.waits_for_images('["right", "wrong"].includes(cell.dataset.outcome)')


def canary(test, server):
    """The switch sends this page's images to the canary, the slider a share of all requests."""
    switch = 'document.getElementById("canary-images")'
    same(test.sees(f'{switch}.disabled'), True)
    test.click('canary', 'Load')
    test.waits(f'!{switch}.disabled')
    test.browser.click(switch)
    on_canary = 'cell.querySelector(".trip").textContent.endsWith("canary")'
    test.waits_for_images(on_canary)
    test.waits(f'{entry("nn::softmax", "CANARY")}.classList.contains("last")')
    same(test.sees(f'{entry("nn::softmax", "CPU")}.classList.contains("last")'), False)
    test.browser.click(switch)
    test.waits_for_images(f'!{on_canary}')

    test.sees('document.getElementById("percent").focus()')
    test.browser.press('End')
    test.waits_for_images(on_canary)
    same(test.sees('document.getElementById("percent-value").textContent'), '100 %')
    assert 'serve_canary_percent 100' in server.get('/metrics')[1]
    test.click('canary', 'Unload')
    test.waits_for_images(f'!{on_canary}')
    test.waits(f'{switch}.disabled')


def held(test):
    """A plugin that a batch is inside, under its snapshot: the row says so until it has left."""
    test.click('gate', 'Load')
    test.waits_for_entry('nn::relu', 'CPU', 'gate@1.0#1')
    os.remove(test.gate)
    test.waits('fetch("/v1/plugins").then(answer => answer.json()).then(known => known.loaded.some('
               'version => version.name === "gate" && version.holders?.length > 0))')
    test.click('gate', 'Unload')
    test.waits_for_state('gate', 'draining')
    detail = test.waits(f'(text => text.includes("snapshot") && text)'
                        f'({row("gate")}.querySelector(".detail").textContent)')
    assert re.search(r'held by \d calls? of nn::relu,', detail), detail
    test.waits_for_entry('nn::relu', 'CPU', 'builtin')
    with open(test.gate, 'w', encoding='ascii'):
        pass
    test.waits_for_state('gate', 'not loaded')
    same(test.sees('document.querySelector("[data-tally=failed]").textContent'), '0')


def strip(test):
    """Keys go from commit to commit; the mouse finds the same."""
    test.sees('document.getElementById("strip").focus()')
    read = 'document.getElementById("strip").ariaValueText'
    test.browser.press('ArrowLeft')
    newest = test.sees('document.querySelector("#commits .what").textContent')
    assert test.sees(read).endswith(newest), (test.sees(read), newest)
    test.browser.press('ArrowLeft')
    before = test.sees(read)
    older = test.sees('document.querySelectorAll("#commits .what")[1].textContent')
    assert before.endswith(older), (before, older)
    same(test.sees('document.getElementById("readout").textContent'), before)
    test.sees('document.activeElement.blur()')

    # From right to left until the mouse meets a commit: the newest is at most seconds old.
    for step in range(200):
        test.browser.point_at('document.getElementById("strip")', 0.99 - step * 0.002)
        text = test.sees('document.getElementById("readout").textContent')
        if ', version ' in text:
            break
    assert text.endswith(newest), (text, newest)
    test.browser.point_at('document.getElementById("connection")')


def looks(test):
    """No jumps until here; room, contrast and names, at both widths and in both schemes."""
    assert test.sees('pageTest.jumped()') < JUMPS_MAX, test.sees('pageTest.jumps')
    for width in WIDTHS:
        for scheme in SCHEMES:
            test.browser.set_look(width, 900, scheme)
            same(test.sees('innerWidth'), width)
            same(test.sees('pageTest.wideElements()'), [])
            test.check_contrast()
    same(test.sees('pageTest.namelessControls()'), [])
    test.browser.set_look(WIDTHS[0], 900, SCHEMES[0])


def server_goes_and_comes(test, server):
    connection = 'document.getElementById("connection")'
    server.stop()
    test.waits(f'{connection}.dataset.state === "lost"')
    assert test.sees(f'{connection}.textContent').startswith('Server gone since ')
    same(test.sees(f'{button("mark", "Load")}.title'), 'The server does not answer.')
    test.check_contrast()
    with test.start('--port', str(server.port)):
        test.waits(f'{connection}.dataset.state === "open"')
        test.click('mark', 'Load')
        test.waits_for_entry('nn::softmax', 'CPU', 'mark@2.0#1')  # of the file chosen before
        test.waits_for_images('["right", "wrong"].includes(cell.dataset.outcome)')


def check_console(events):
    """Nothing but what the test provoked: a refused change, and a server that is gone."""
    for event in events:
        parameters = event.get('params', {})
        if event.get('method') == 'Runtime.exceptionThrown':
            details = parameters['exceptionDetails']
            raise AssertionError(details.get('exception', {}).get('description', details['text']))
        if event.get('method') == 'Runtime.consoleAPICalled':
            raise AssertionError(parameters)
        if event.get('method') == 'Log.entryAdded':
            said = parameters['entry']
            is_refusal = said.get('url', '').endswith('/mark/replace') and '422' in said['text']
            is_gone = any(word in said['text'] for word in GONE)
            assert said['source'] == 'network' and (is_refusal or is_gone), said


def run_test(test):
    browser = test.browser
    browser.set_look(WIDTHS[0], 900, SCHEMES[0])
    with test.start() as server:
        test.open(server)
        changes(test)
        images(test)
        canary(test, server)
        held(test)
        strip(test)
        looks(test)
        console = len(browser.events)
        server_goes_and_comes(test, server)
    assert not any(word in str(event) for event in browser.events[:console] for word in GONE)
    check_console(browser.events)


def load(server, sample, ends):
    """Requests until the end, for pictures of a server that works."""
    for index in iter(lambda: 0 if ends.is_set() else 1, 0):
        server.predict(sample.image(index))


def take_screenshots(test):
    os.makedirs(test.arguments.screenshots, exist_ok=True)
    with test.start() as server:
        sample = Sample(test.arguments.data)
        ends = threading.Event()
        threads = [threading.Thread(target=load, args=(server, sample, ends)) for _ in range(3)]
        for thread in threads:
            thread.start()
        test.open(server)
        available = server.get('/v1/plugins')[1]['available']
        for plugin in available:
            threading.Event().wait(2)
            server.change(plugin['name'], 'load')
        server.admin('POST', '/v1/canary', {'percent': 20})
        threading.Event().wait(4)
        for width in WIDTHS:
            for scheme in SCHEMES:
                test.browser.set_look(width, 900, scheme)
                threading.Event().wait(1)
                name = f'page-{width}-{scheme}.png'
                test.browser.screenshot(os.path.join(test.arguments.screenshots, name))
                print(name)
        ends.set()
        for thread in threads:
            thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('plugins')
    parser.add_argument('data')
    parser.add_argument('chromium')
    parser.add_argument('--screenshots', metavar='FOLDER')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, 'gate')
        with open(gate, 'w', encoding='ascii'):
            pass
        with Browser(arguments.chromium) as browser:
            test = PageTest(arguments, browser, gate)
            if arguments.screenshots:
                take_screenshots(test)
            else:
                run_test(test)
                print('passed')


main()
