#!/usr/bin/env python3
"""Tests that the self-test finds what is wrong.

faults_test.py SELFTEST SERVER GOOD_PLUGINS FAULTY_PLUGINS DATA NAME runs one of them.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SELFTEST, SERVER, GOOD, FAULTY, DATA = sys.argv[1:6]
HERE = os.path.dirname(os.path.abspath(__file__))


def start(folder, *arguments, **environment):
    return subprocess.Popen(
        [SELFTEST, '--data', DATA, '--package', 'no-such-folder', '--images', '128', '--seed', '1',
         '--json', os.path.join(folder, 'report.json'), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, **environment})


class Report:
    """How a run ended, and what it has found."""

    def __init__(self, folder, process):
        self.text, _ = process.communicate(timeout=100)
        self.status = process.returncode
        path = os.path.join(folder, 'report.json')
        self.json = json.load(open(path)) if os.path.exists(path) else None

    def check(self, also=(), **expected):
        """The kinds of findings are these, each with at least one sentence of these words."""
        found = {kind: entry for kind, entry in self.json['findings'].items() if entry['count'] > 0}
        assert self.status == 1 and not self.json['passed'], (self.status, self.text)
        assert found.keys() - set(also) == expected.keys() - set(also), (list(found), self.text)
        for kind, words in expected.items():
            for word in [words] if isinstance(words, str) else words:
                assert any(word in sentence for sentence in found[kind]['sentences']), \
                    (kind, word, self.text)


def run(*arguments, **environment):
    with tempfile.TemporaryDirectory() as folder:
        return Report(folder, start(folder, *arguments, **environment))


def faulty_plugin(name, *arguments):
    return run('--plugins', FAULTY, '--only', name, '--seconds', '1', '--no-wrk', *arguments)


def plugins():
    report = faulty_plugin('none')
    assert report.status == 0 and report.json['passed'], report.text
    stay, = report.json['unloaded']['retained']
    assert stay['plugin'] == 'none' and stay['count'] > 0 and stay['reason'], report.text
    far = faulty_plugin('int8', '--plugins', os.path.join(FAULTY, 'far'))
    far.check(wrong='a logit is farther off than int8 rounds')
    near = faulty_plugin('int8', '--plugins', os.path.join(FAULTY, 'near'))
    near.check(wrong='int8 answers agree in class with the reference, less than 99.00')
    assert near.json['wrong'] == 1 and near.json['int8']['largest_distance'] < 0.5, near.text
    faulty_plugin('off').check(wrong='a logit is too far from the reference')
    faulty_plugin('turn', '--connections', '1').check(wrong='another class than the reference')
    faulty_plugin('keep').check(memory='tensors')
    faulty_plugin('grow').check(memory='resident memory')
    faulty_plugin('hold', '--drain-ms', '200').check(
        drain='hold does not leave: ', server='the server ended with status 1 when it was stopped')


def signalled(number, *arguments, to='server'):
    """Sends a signal to the server or the self-test when there have been answers for a while."""
    with tempfile.TemporaryDirectory() as folder:
        process = start(folder, '--plugins', GOOD, '--only', 'reference', '--no-wrk', '--seconds',
                        '60', *arguments)
        text = ''
        while 'every plugin has served' not in text:
            line = process.stdout.readline()
            text += line
            assert line, text
        server = int(re.search(r'server: process (\d+)', text).group(1))
        os.kill(server if to == 'server' else process.pid, number)
        return Report(folder, process)


def server():
    signalled(signal.SIGKILL).check(  # between two phases no request need be on its way
        also=['failed'], server='the server was ended by signal 9 (Killed) in the middle of the run')
    signalled(signal.SIGSTOP, '--hang-ms', '2000').check(
        failed='the server hangs', server='no answer came in time')
    signalled(signal.SIGINT, to='self-test').check(server='the self-test was interrupted')
    run('--server', '/bin/false').check(server='/bin/false does not start')
    run('--server', 'no-such-file').check(server='no-such-file does not start')
    run('--only', 'ghost').check(server='lacks some of ghost')
    run('--data', 'no-such-folder').check(server='no-such-folder')
    for arguments in (['--seconds', '0'], ['--speed', '1'], ['word']):
        report = run(*arguments)
        assert report.status == 2 and report.json is None, report.text
    report = run('--json', 'no-such-folder/x.json', '--server', '/bin/false')
    assert report.status == 1 and 'cannot be written' in report.text, report.text


def answers():
    with tempfile.TemporaryDirectory() as folder:
        spoiled = os.path.join(folder, 'spoiled')
        report = run('--server', os.path.join(HERE, 'faulty_server.py'), '--plugins', GOOD,
                     '--only', 'canary,reference', '--seconds', '3',
                     SERVE_REAL=SERVER, SERVE_SPOILED=spoiled)
        done = open(spoiled).read().split()
    words = {
        'wrong': {
            'backend_percent': 'though its percentage is 0',
            'class_of_other': 'class and label are not',
            'label': 'class and label are not',
            'probabilities': 'the probabilities are not the softmax',
            'form': 'are not ten numbers each',
            'operators': 'operators does not name',
            'no_json': 'is no JSON object',
            'version': 'older than a change',
            'one_served': 'other kernels served another answer of the same version',
            'refused_canary': 'served a request that refused it',
            'asked_canary': 'did not serve a request that asked for it',
            'ghost_served': 'served by ghost@1.0#1, which was not loaded at that version',
            'other_loading_served': 'reference@1.0#9',
            'wrk_class': 'wrk: 1 wrong classes',
        },
        'failed': {
            'canary_status': 'status 409: {"error": "a spoiled refusal"}',
            'status': 'status 500: {"error": "a spoiled status"}',
            'no_http': 'is no HTTP',
            'connection': 'broke before the answer',
            'wrk_status': 'wrk: 1 requests refused',
        },
        'change': {
            'change_refused': 'status 409: {"error": "a spoiled change"}',
            'change_of_other': 'the answer is not of loading',
        },
    }
    if shutil.which('wrk') is None:  # so that nobody makes these
        del words['wrong']['wrk_class'], words['failed']['wrk_status']
    report.check(memory=['resident memory', 'what Keyway holds', 'tensors'],
                 server='the server ended with status 3 when it was stopped',
                 **{kind: faults.values() for kind, faults in words.items()})
    print(report.text)
    assert sorted(done) == sorted(name for faults in words.values() for name in faults), done


{'plugins': plugins, 'server': server, 'answers': answers}[sys.argv[6]]()
