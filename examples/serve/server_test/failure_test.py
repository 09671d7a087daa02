#!/usr/bin/env python3
"""Tests of what goes wrong: failure_test.py PROGRAM PLUGIN_FOLDER DATA_FOLDER NAME runs one."""

import collections
import concurrent.futures
import http.client
import os
import shutil
import subprocess
import sys
import tempfile

from client import (PIXELS, Sample, Server, connect, figure, is_error, is_refused, request, same,
                    wait_for)

PROGRAM, PLUGINS, DATA = sys.argv[1:4]


def start(*arguments, **options):
    return Server(PROGRAM, PLUGINS, DATA, *arguments, **options)


def softmax(server):
    status, answer = server.predict(bytes(PIXELS))
    same(status, 200)
    return answer['operators']['nn::softmax']


def torn():
    """A plugin whose start or commit fails leaves nothing, and what served goes on."""
    with start() as server:
        for _ in range(2):
            is_error(server.change('mark', 'load', file='serve_torn.so'), 422, 'what torn needs')
            is_error(server.change('mark', 'load', file='serve_torn_commit.so'), 422, 'relu')
            same(softmax(server), 'builtin')
        same(server.get('/v1/plugins')[1]['loaded'], [])
        same(server.change('mark', 'load')[0], 200)
        before = server.get('/v1/plugins')[1]['loaded']
        for _ in range(2):
            is_error(server.change('mark', 'replace', file='serve_torn.so'), 422, 'torn needs')
            is_error(server.change('mark', 'replace', file='serve_torn_commit.so'), 422, 'relu')
            same(softmax(server), 'mark@1.0#1')
        same(server.get('/v1/plugins')[1]['loaded'], before)
        same(server.change('mark', 'unload')[0], 200)
        same(softmax(server), 'builtin')


def files():
    """A plugin's file changes, breaks and goes while the plugin serves: it runs a copy."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'serve_mark.so')

        def write(name):  # into the same file, as a careless copy does
            with open(os.path.join(PLUGINS, name), 'rb') as source, open(file, 'wb') as target:
                shutil.copyfileobj(source, target)

        write('serve_mark.so')
        with Server(PROGRAM, folder, DATA, '--load', 'mark') as server:
            write('serve_mark_two.so')
            same(softmax(server), 'mark@1.0#1')
            same(server.change('mark', 'replace')[0], 200)
            same(softmax(server), 'mark@2.0#2')
            write('serve_broken.so')
            is_error(server.change('mark', 'replace'), 422, 'serve_mark.so')
            os.truncate(file, 0)
            is_error(server.change('mark', 'replace'), 422, 'serve_mark.so')
            os.remove(file)
            os.mkfifo(file)  # opening one would wait for ever
            is_error(server.change('mark', 'replace'), 422, 'serve_mark.so')
            same(server.get('/v1/plugins')[1]['available'], [])
            os.remove(file)
            same(softmax(server), 'mark@2.0#2')
            same(server.change('mark', 'rollback')[0], 200)
            same(softmax(server), 'mark@1.0#3')
            is_error(server.change('mark', 'replace'), 404, 'serve_mark.so')
            same(server.change('mark', 'unload')[1]['state'], 'unmapped')
            is_error(server.change('mark', 'load'), 404, 'serve_mark.so')
            os.rmdir(folder)
            same(server.get('/v1/plugins')[1]['available'], [])
            os.mkdir(folder)


def looks():
    """However many look at the plugins at a time, none takes another one for a change."""
    with start('--load', 'mark') as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        def look(_):
            connection = connect(server.admin_port)
            return [request(server.admin_port, 'GET', '/v1/plugins', connection=connection)[1]
                    for _ in range(25)]

        seen = [answer for answers in pool.map(look, range(8)) for answer in answers]
        same({(answer['changing'], len(answer['loaded'])) for answer in seen}, {(False, 1)})


def stuck():
    """Code of a plugin that does not return ends a stop in a report, not in a wait for ever."""
    sample = Sample(DATA)
    with tempfile.TemporaryDirectory() as folder:
        never = os.path.join(folder, 'never')
        # The process leaves a thread behind, which is what ThreadSanitizer would report.
        leaves = os.environ.get('TSAN_OPTIONS', '') + ':report_thread_leaks=0'
        with start('--load', 'gate', '--stop-ms', '0',
                   environment={'SERVE_TEST_GATE': never, 'TSAN_OPTIONS': leaves}) as server:
            connection = connect(server.port)
            connection.request('POST', '/v1/predict', sample.image(0),
                               {'Content-Type': 'application/octet-stream'})
            wait_for('the call', lambda: server.get('/v1/operators')[1]['operators'][0]['calls'])
            wait_for('the holder', lambda: any(
                row.get('holders') for row in server.get('/v1/plugins')[1]['loaded']))
            server.process.terminate()
            server.finish()
            same(server.process.returncode, 1)
            for part in ('a worker does not come back', 'is in a call of nn::relu',
                         'plugin gate 1.0 is serving'):
                assert part in server.errors, server.errors
        with start('--load', 'gate', '--stop-ms', '0',
                   environment={'SERVE_TEST_STOP_GATE': never, 'TSAN_OPTIONS': leaves}) as server:
            server.process.terminate()
            server.finish()
            same(server.process.returncode, 1)
            for part in ('a plugin does not leave', 'plugin gate 1.0 is'):
                assert part in server.errors, server.errors


def thread_count(server):
    """Each connection of the administration has a thread of its own."""
    return len(os.listdir(f'/proc/{server.process.pid}/task'))


def closing():
    """A change that waits for its turn is not made once the server stops."""
    sample = Sample(DATA)
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, 'gate')
        with start('--load', 'gate', environment={'SERVE_TEST_GATE': gate}) as server:
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                held = pool.submit(server.predict, sample.image(0))
                wait_for('the holder', lambda: any(
                    row.get('holders') for row in server.get('/v1/plugins')[1]['loaded']))
                first = pool.submit(server.change, 'gate', 'unload', drain_ms=60000)
                wait_for('the change', lambda: server.get('/v1/plugins')[1]['changing'])
                threads = thread_count(server)
                second = pool.submit(server.change, 'mark', 'load')
                wait_for('the second', lambda: thread_count(server) > threads)
                same(request(server.admin_port, 'POST', '/v1/stop')[0], 202)
                wait_for('the closed port', lambda: is_refused(server))
                open(gate, 'w').close()
                same(held.result()[0], 200)
                same(first.result()[1]['state'], 'unmapped')
                is_error(second.result(), 503, 'stopping')
            server.check_end()
            assert '1 plugins loaded, 1 unmapped' in server.output, server.output


def starved():
    """Where memory runs out an answer is whole or an error, and the server goes on."""
    sample = Sample(DATA)
    counts = {'/v1/config': ('labels', 10), '/v1/operators': ('operators', 5),
              '/v1/plugins': ('available', len(os.listdir(PLUGINS))),
              '/v1/images': ('images', 12), '/v1/operators/nn::relu/table?all=1': ('rows', 138)}
    seen = collections.Counter()

    def tries(what, *arguments):
        try:
            status, answer = what(*arguments)
        except (OSError, http.client.HTTPException):  # there was not even memory for an answer
            status, answer = 0, None
        seen[status] += 1
        assert status in (0, 200, 202, 404, 409, 422, 500, 503), (status, answer)
        return answer if status == 200 and isinstance(answer, dict) else None

    with tempfile.TemporaryDirectory() as folder:
        scarce = os.path.join(folder, 'scarce')
        with start(environment={'LD_PRELOAD': os.environ['SERVE_TEST_STARVE'],
                                'STARVE_EVERY': '70', 'STARVE_WHILE': scarce}) as server:
            open(scarce, 'w').close()
            for index in range(40):
                if answer := tries(server.predict, sample.image(index)):
                    sample.check(index, answer)
                    same((len(answer['probabilities']), len(answer['operators'])), (10, 5))
                for path, (name, count) in counts.items():
                    if answer := tries(server.get, path):
                        same((path, len(answer[name])), (path, count))
                tries(server.get, '/metrics')
                tries(server.get, '/v1/nothing')
                for word in ('load', 'replace', 'rollback', 'unload'):
                    tries(server.change, 'canary', word)
                same(server.process.poll(), None)
            os.remove(scarce)
            assert seen[200] > 0 and seen[503] > 0 and seen[0] > 0, seen
            status, answer = server.predict(sample.image(0))
            same(status, 200)
            sample.check(0, answer)
            assert figure(server, 'keyway_commits_total') > 2


def options():
    """Options and files that cannot be used are told, and there is no server."""
    def run(*arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def says(result, status, part):
        same(result[0], status)
        assert part in result[1], result

    says(run('--help'), 0, 'usage: serve')
    says(run('--port', 'x'), 2, '--port takes a whole number from 0 to 65535, not `x`')
    says(run('--batch', '65'), 2, '--batch takes a whole number from 1 to 64')
    says(run('--speed'), 2, 'speed')
    says(run('file'), 2, '`file` is no option')
    free = ('--port', '0', '--admin-port', '0', '--package', 'no-such-folder')
    says(run(*free, '--data', 'no-such-folder'), 1, 'no-such-folder')
    says(run(*free, '--plugins', PLUGINS, '--load', 'broken'), 1, 'serve_broken.so')
    says(run(*free, '--plugins', PLUGINS, '--load', 'x'), 1, 'serve_x.so')
    with start() as server:
        says(run(*free[2:], '--port', str(server.port)), 1, 'Address already in use')
        says(run(*free[:2], *free[4:], '--admin-port', str(server.port)), 1, 'Address already')


TESTS = {function.__name__: function for function in
         (closing, files, looks, options, starved, stuck, torn)}
TESTS[sys.argv[4]]()
print(f'{sys.argv[4]}: passed')
