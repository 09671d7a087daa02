#!/usr/bin/env python3
"""Tests of the server: serve_test.py PROGRAM PLUGIN_FOLDER DATA_FOLDER NAME runs one of them."""

import concurrent.futures
import json
import os
import select
import signal
import socket
import sys
import tempfile
import threading

from client import (PIXELS, Sample, Server, connect, figure, is_error, is_refused, raw, request,
                    same, wait_for)

PROGRAM, PLUGINS, DATA = sys.argv[1:4]
IS_SLOW = 'SERVE_TEST_SLOW' in os.environ  # a build with a sanitizer
OPERATORS = ['nn::conv2d', 'nn::relu', 'nn::max_pool2d', 'nn::linear', 'nn::softmax']
MARKS = {11: 'mark@1.0#', 22: 'mark@2.0#', 33: 'canary@1.0#'}


def start(*arguments, **options):
    return Server(PROGRAM, PLUGINS, DATA, *arguments, **options)


def endpoints():
    sample = Sample(DATA)
    with start() as server:
        same(server.get('/healthz')[1]['status'], 'ok')
        config = server.get('/v1/config')[1]
        same((config['port'], config['admin_port']), (server.port, server.admin_port))
        same(config['images'], 512)
        same(len(config['labels']), 10)

        status, answer = server.predict(sample.image(0))
        same(status, 200)
        sample.check(0, answer)
        same(answer['label'], config['labels'][answer['class']])
        assert abs(sum(answer['probabilities']) - 1) < 1e-3, answer
        same(list(answer['operators']), OPERATORS)
        status, by_json = request(server.port, 'POST', '/v1/predict',
                                  json.dumps(list(sample.image(0))),
                                  {'Content-Type': 'application/json'})
        same((status, by_json['logits']), (200, answer['logits']))

        listed = server.get('/v1/operators')[1]['operators']
        same([row['name'] for row in listed], OPERATORS)
        same({row['last'] for row in listed}, {'CPU'})
        same([row['calls'] for row in listed], [4, 6, 4, 4, 2])
        table = server.get('/v1/operators/nn::relu/table')[1]
        same(table['version'], answer['version'])
        same([(row['key'], row['serves'], row['calls'], row['last']) for row in table['rows']],
             [('CPU', 'builtin', 6, True)])
        assert len(server.get('/v1/operators/nn%3A%3Arelu/table?all=1')[1]['rows']) > 100

        images = server.get('/v1/images?count=5&seed=7')[1]['images']
        same(len(images), 5)
        same(images, server.get('/v1/images?count=5&seed=7')[1]['images'])
        for image in images:
            same(bytes(image['pixels']), sample.image(image['index']))
            same(image['class'], sample.labels[image['index']])

        files = {row['name']: row['loaded'] for row in server.get('/v1/plugins')[1]['available']}
        same(files, {name: False for name in ('broken', 'canary', 'elsewhere', 'gate', 'mark', 'mark_two',
                                           'torn', 'torn_commit')})
        same(server.admin('GET', '/v1/plugins')[1]['available'],
             server.get('/v1/plugins')[1]['available'])


def bad_input():
    octets = {'Content-Type': 'application/octet-stream'}
    as_json = {'Content-Type': 'application/json'}
    with start() as server:
        def predict(body, headers):
            return request(server.port, 'POST', '/v1/predict', body, headers)

        is_error(predict(b'x' * (PIXELS - 1), octets), 400, 'an image has 784 bytes, not 783')
        is_error(predict(b'', octets), 400, 'not 0')
        for other in ('image/png', 'application/jsonp', 'application/octet-streams', ''):
            is_error(predict(b'x' * PIXELS, {'Content-Type': other}), 415, 'octet-stream')
        same(predict(b'x' * PIXELS, {'Content-Type': 'Application/Octet-Stream ; a=b'})[0], 200)
        is_error(predict('[1, 2', as_json), 400, 'no JSON')
        is_error(predict('', as_json), 400, 'no JSON')
        is_error(predict('{}', as_json), 400, 'array of 784 numbers')
        is_error(predict(json.dumps([0] * 783), as_json), 400, 'array of 784 numbers')
        for wrong in (256, -1, 0.5, 'a', None):
            is_error(predict(json.dumps([0] * 783 + [wrong]), as_json), 400, 'number 783')
        is_error(predict(b'x' * PIXELS, {**octets, 'X-Keyway-Backend': 'gpu'}), 400, 'canary')
        is_error(predict(b'x' * PIXELS, {**octets, 'X-Keyway-Backend': 'canary'}), 409, 'no plugin')

        is_error(server.get('/v1/nothing'), 404, '/v1/nothing')
        is_error(server.get('/v1/%22%5C%0a%01'), 404, 'no /v1/"\\\n\x01')  # as it was sent
        is_error(server.get('/v1/%ff%c3'), 404, 'no /v1/??')  # no UTF-8
        is_error(server.get('/x' + '%c3%a4' * 200), 404, 'there is no /x??')  # cut in a letter
        is_error(server.get('/v1/operators/nn::sin/table'), 404, 'nn::sin')
        is_error(server.get('/v1/operators/nn::relu'), 404, 'nn::relu')
        is_error(server.get('/v1/operators/nn::relu/table?all=2'), 400, 'all')
        is_error(server.get('/v1/images?count=65'), 400, 'count')
        for wrong in ('count=-1', 'count=', 'count=+5', 'count=5x', 'count=0x5', 'seed=x',
                      'seed=18446744073709551616'):
            is_error(server.get(f'/v1/images?{wrong}'), 400, 'seed')
        same(len(server.get('/v1/images?count=5&seed=18446744073709551615')[1]['images']), 5)
        is_error(request(server.port, 'PUT', '/v1/predict'), 405, 'POST')
        is_error(server.get('/v1/stop'), 404, '/v1/stop')
        is_error(server.admin('GET', '/v1/stop'), 405, 'POST')
        same(raw(server.port, b'rubbish\r\n\r\n'), '')  # closed without a word
        same(server.get('/healthz')[0], 200)

        is_error(server.change('nothing', 'load'), 404, 'serve_nothing.so')
        is_error(server.change('nothing', 'unload'), 404, 'no plugin nothing')
        is_error(server.change('mark', 'rollback'), 404, 'no plugin mark')
        is_error(server.change('mark', 'paint'), 404, 'load, replace, rollback or unload')
        is_error(server.admin('POST', '/v1/plugins/mark'), 404, 'load')
        is_error(server.change('mark', 'load', file='../x.so'), 400, 'without a path')
        is_error(server.change('mark', 'load', file='x.so'), 404, 'x.so')
        is_error(server.change('mark', 'load', file=1), 400, 'file')
        for wrong in (-1, 60001, 1.0, '1', True, None):
            is_error(server.change('mark', 'load', drain_ms=wrong), 400, 'drain_ms')
        is_error(server.change('mark', 'load', drain_ms=10 ** 20), 400, 'no JSON')
        is_error(server.change('mark', 'load', speed=1), 400, 'speed')
        is_error(server.change('mark', 'load', **{'x' + '\u00e4' * 30: 1}), 400, 'member x??')
        is_error(server.change('broken', 'load'), 422, 'serve_broken.so')
        is_error(server.change('..%2f..%2fetc', 'load'), 404, '')
        is_error(server.admin('POST', '/v1/canary', {'percent': 101}), 400, 'percent')
        is_error(server.admin('POST', '/v1/canary'), 400, 'percent')
        is_error(server.admin('POST', '/v1/canary', [1]), 400, 'object')
        is_error(request(server.admin_port, 'POST', '/v1/canary', '{"percent":'), 400, 'no JSON')
        same(server.get('/v1/plugins')[1]['figures']['serving'], 0)

        # Pages of elsewhere, by their own origin or under a name that was made to lead here.
        page = f'http://127.0.0.1:{server.port}'
        for headers in ({'Origin': 'http://example.org'}, {'Host': 'example.org'},
                        {'Origin': f'http://127.0.0.1:{server.port + 1}'}, {'Origin': 'null'}):
            is_error(server.admin('POST', '/v1/canary', {'percent': 5}, headers), 403, 'pages')
        same(server.admin('POST', '/v1/canary', {'percent': 5}, {'Origin': page})[0], 200)
        connection = connect(server.admin_port)
        connection.request('OPTIONS', '/v1/canary', None, {'Origin': page})
        response = connection.getresponse()
        same((response.status, response.getheader('Access-Control-Allow-Origin')), (204, page))


def limits():
    sample = Sample(DATA)
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, 'gate')
        with start('--load', 'gate', '--queue', '3', '--batch', '1', '--workers', '1', '--wait-us',
                   '0', environment={'SERVE_TEST_GATE': gate}) as server:
            large = b'x' * 20000
            is_error(server.predict(large), 413, '16384')
            head = (f'POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
                    'Content-Type: application/octet-stream\r\n')
            chunked = head + 'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4e20\r\n'
            answer = raw(server.port, chunked.encode() + large + b'\r\n0\r\n\r\n')
            assert answer.startswith('HTTP/1.1 413') and '16384' in answer, answer
            is_error(server.admin('POST', '/v1/canary', {'percent': 1, 'x': 'y' * 5000}), 413, '4096')

            # One request is in the network, held at the gate; three wait; the next is refused.
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                held = [pool.submit(server.predict, sample.image(0))]
                wait_for('the call', lambda: server.get('/v1/operators')[1]['operators'][0]['calls'])
                held += [pool.submit(server.predict, sample.image(i)) for i in range(1, 4)]
                wait_for('the queue', lambda: figure(server, 'serve_waiting_requests') == 3)
                is_error(server.predict(sample.image(9)), 503, 'too many requests wait')
                open(gate, 'w').close()
                for index, future in enumerate(held):
                    status, answer = future.result()
                    same(status, 200)
                    sample.check(index, answer)

            streams = [connect(server.port) for _ in range(33)]
            statuses = []
            for stream in streams:
                stream.request('GET', '/v1/events')
                statuses.append(stream.getresponse().status)
            same(statuses, [200] * 32 + [503])
    with start('--connections', '4', '--http-threads', '1') as server:
        kept = [connect(server.port) for _ in range(5)]
        for connection in kept[:4]:
            same(request(server.port, 'GET', '/healthz', connection=connection)[0], 200)
        # One too many: it waits, and is served when another one has gone.
        kept[4].request('GET', '/healthz')
        same(select.select([kept[4].sock], [], [], 0.3)[0], [])
        kept[0].close()
        same(kept[4].getresponse().status, 200)


def predictions():
    sample = Sample(DATA)
    indices = range(0, sample.count, 16 if IS_SLOW else 1)
    with start() as server:
        connections = threading.local()

        def one(index):
            if not hasattr(connections, 'own'):
                connections.own = connect(server.port)
            status, answer = server.predict(sample.image(index), None, connections.own)
            same(status, 200)
            sample.check(index, answer)
            return answer

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(one, indices))
        right = sum(answer['class'] == sample.labels[index]
                    for index, answer in zip(indices, answers))
        assert right > 0.85 * len(answers), right
        assert max(answer['batch'] for answer in answers) > 1


def labels_match(answer):
    """What the answer names is what ran: the mark that the kernel left says which one that was."""
    softmax = answer['operators']['nn::softmax']
    mark = round(answer['probabilities'][0])
    if mark in MARKS:
        assert softmax.startswith(MARKS[mark]), answer
        assert all(value == mark for value in answer['probabilities']), answer
    else:
        same(softmax, 'builtin')
        assert abs(sum(answer['probabilities']) - 1) < 1e-3, answer
    return softmax


def names():
    """Under concurrent changes each answer names the very loading that served it."""
    sample = Sample(DATA)
    with start('--workers', '3', '--http-threads', '3') as server:
        is_over = threading.Event()
        seen = set()

        def call(thread):
            connection = connect(server.port)
            index = thread
            while not is_over.is_set():
                headers = {'X-Keyway-Backend': 'default'} if index % 2 else {}
                status, answer = server.predict(sample.image(index), headers, connection)
                same(status, 200)
                sample.check(index, answer)
                seen.add((labels_match(answer), answer['version']))
                index = (index + 4) % 512

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            callers = [pool.submit(call, thread) for thread in range(4)]
            loadings = {}
            try:
                same(server.admin('POST', '/v1/canary', {'percent': 30})[0], 200)
                for turn in range(2 if IS_SLOW else 6):
                    change_all(server, loadings, turn)
            finally:
                is_over.set()
            for caller in callers:
                caller.result()
        named = {label for label, _ in seen}
        assert 'builtin' in named and len(named) > 3, named
        assert named <= set(loadings) | {'builtin'}, (named, loadings)
        for label, version in seen:
            if label != 'builtin':
                first, last = loadings[label]
                assert first < version <= last, (label, version, loadings[label])


def change_all(server, loadings, turn):
    """Loads, replaces, rolls back and unloads the marks, and notes each loading's versions."""
    serving = {}

    def change(name, word, version, **body):
        before = server.get('/healthz')[1]['version']
        status, answer = server.change(name, word, **body)
        assert status in (200, 202), answer
        after = answer['version']
        if name in serving:
            loadings[serving.pop(name)][1] = after
        if word != 'unload':
            serving[name] = f'{name}@{version}#{answer["generation"]}'
            loadings[serving[name]] = [before, None]
        served_once = server.predict(bytes(PIXELS))
        same(served_once[0], 200)
        labels_match(served_once[1])

    change('mark', 'load', '1.0')
    change('canary', 'load', '1.0')
    change('mark', 'replace', '2.0', file='serve_mark_two.so')
    change('mark', 'rollback', '1.0')
    if turn % 2 == 0:
        change('canary', 'replace', '1.0')
    change('canary', 'unload', '1.0')
    change('mark', 'unload', '1.0')


def plugins():
    with start() as server:
        def listed():
            return {row['name']: row for row in server.get('/v1/plugins')[1]['loaded']}

        def softmax():
            status, answer = server.predict(bytes(PIXELS))
            same(status, 200)
            label = labels_match(answer)
            table = server.get('/v1/operators/nn::softmax/table')[1]
            same(table['version'], answer['version'])
            same([row['serves'] for row in table['rows'] if row['last']], [label])
            return label

        same(softmax(), 'builtin')
        status, answer = server.change('mark', 'load')
        same((status, answer['generation'], answer['state']), (200, 1, 'serving'))
        same(softmax(), 'mark@1.0#1')
        same([listed()['mark'][key] for key in ('state', 'generation', 'file', 'can_roll_back')],
             ['serving', 1, 'serve_mark.so', False])
        is_error(server.change('mark', 'load'), 409, 'serves already')
        is_error(server.change('mark', 'rollback'), 409, '')
        same(softmax(), 'mark@1.0#1')

        same(server.change('mark', 'replace', file='serve_mark_two.so')[0], 200)
        same(softmax(), 'mark@2.0#2')
        same(listed()['mark']['can_roll_back'], True)
        is_error(server.change('mark', 'replace', file='serve_broken.so'), 422, 'serve_broken.so')
        same(softmax(), 'mark@2.0#2')
        same(server.change('mark', 'rollback')[1]['generation'], 3)
        same(softmax(), 'mark@1.0#3')

        # No plugin goes under the name of another.
        version = server.get('/healthz')[1]['version']
        is_error(server.change('mark_two', 'load'), 422, 'named mark')
        is_error(server.change('mark', 'replace', file='serve_gate.so'), 422, 'named gate')
        same(softmax(), 'mark@1.0#3')
        same(server.get('/healthz')[1]['version'], version)  # nothing was committed for a moment
        same(server.change('mark', 'rollback')[1]['generation'], 4)  # what was kept is there still
        same(softmax(), 'mark@2.0#4')
        same(server.change('mark', 'unload')[1]['state'], 'unmapped')
        same(softmax(), 'builtin')
        same(listed(), {})
        same(server.change('mark', 'load')[1]['generation'], 5)
        same(softmax(), 'mark@1.0#5')
        figures = server.get('/v1/plugins')[1]['figures']
        same([figures[key] for key in ('loaded', 'unmapped', 'retained', 'serving')], [5, 4, 0, 1])
        server.stop()
        assert '5 plugins loaded, 5 unmapped, 0 retained' in server.output, server.output


def holders():
    """A plugin that a call is inside is unloaded: no new call reaches it, and it leaves later."""
    sample = Sample(DATA)
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, 'gate')
        with start('--load', 'gate', environment={'SERVE_TEST_GATE': gate}) as server:
            stream = listen(server)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                held = pool.submit(server.predict, sample.image(3))
                wait_for('the call', lambda: server.get('/v1/operators')[1]['operators'][0]['calls'])
                wait_for('the holder', lambda: any(
                    holder['operator'] == 'nn::relu'
                    for row in server.get('/v1/plugins')[1]['loaded']
                    for holder in row.get('holders', [])))
                status, answer = server.change('gate', 'unload', drain_ms=10)
                same((status, answer['state']), (202, 'draining'))
                assert 'nn::relu' in answer['held_by'], answer
                hear(stream, lambda loaded: loaded and loaded[0]['held_by'])
                row = server.get('/v1/plugins')[1]['loaded'][0]
                same(row['name'], 'gate')
                assert row['state'] in ('closed', 'draining') and row['held_by'], row
                status, answer = server.predict(sample.image(4))
                same((status, answer['operators']['nn::relu']), (200, 'builtin'))
                sample.check(4, answer)

                open(gate, 'w').close()
                status, answer = held.result()
                same((status, answer['operators']['nn::relu']), (200, 'gate@1.0#1'))
                sample.check(3, answer)
            # It leaves by itself, and listeners are told.
            hear(stream, lambda loaded: not loaded)
            same(server.get('/v1/plugins')[1]['figures']['unmapped'], 1)


def canary():
    with start('--load', 'canary') as server:
        def softmax(headers=None):
            status, answer = server.predict(bytes(PIXELS), headers)
            same(status, 200)
            return labels_match(answer), answer['backend']

        same(softmax(), ('builtin', 'default'))
        same(softmax({'X-Keyway-Backend': 'canary'}), ('canary@1.0#1', 'canary'))
        same(server.admin('POST', '/v1/canary', {'percent': 25})[1],
             {'percent': 25, 'available': True})
        served = [softmax() for _ in range(100)]
        same(served.count(('canary@1.0#1', 'canary')), 25)
        same(softmax({'X-Keyway-Backend': 'default'}), ('builtin', 'default'))
        same(server.change('canary', 'unload')[0], 200)
        same({softmax() for _ in range(8)}, {('builtin', 'default')})
        same(server.admin('POST', '/v1/canary', {'percent': 100})[1],
             {'percent': 100, 'available': False})
        same(softmax(), ('builtin', 'default'))


def elsewhere():
    """Results that kernels have left on another device come back, or an error that says why."""
    sample = Sample(DATA)
    with tempfile.TemporaryDirectory() as folder:
        lost = os.path.join(folder, 'lost')
        with start(environment={'SERVE_TEST_LOST': lost}) as server:
            same(server.change('elsewhere', 'load')[0], 200)
            for index in range(8):
                status, answer = server.predict(sample.image(index))
                same(status, 200)
                sample.check(index, answer)
                assert abs(sum(answer['probabilities']) - 1) < 1e-3, answer
                for name in ('nn::linear', 'nn::softmax'):
                    same(answer['operators'][name], 'elsewhere@1.0#1')
            last = {row['name']: row['last'] for row in server.get('/v1/operators')[1]['operators']}
            same((last['nn::conv2d'], last['nn::softmax']), ('CPU', 'PrivateUse1'))
            open(lost, 'w').close()
            is_error(server.predict(sample.image(0)), 500, "'elsewhere' could not copy")
            os.unlink(lost)
            same(server.predict(sample.image(0))[0], 200)
            same(server.change('elsewhere', 'unload')[1]['state'], 'unmapped')
            status, answer = server.predict(sample.image(0))
            sample.check(0, answer)
            same(answer['operators']['nn::softmax'], 'builtin')


def concurrent_requests():
    """Many connections at once, some of which go away in the middle."""
    sample = Sample(DATA)
    with start('--http-threads', '4', '--workers', '4') as server:
        def call(thread):
            connection = connect(server.port)
            for turn in range(8):
                index = (thread * 8 + turn) % 512
                status, answer = server.predict(sample.image(index), None, connection)
                same(status, 200)
                sample.check(index, answer)
                if turn % 4 == thread % 4:
                    leave_early(server, sample.image(index))

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for future in [pool.submit(call, thread) for thread in range(16)]:
                future.result()


def leave_early(server, image):
    """Half a request, or a whole one whose answer nobody reads."""
    head = (f'POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
            f'Content-Type: application/octet-stream\r\nContent-Length: {PIXELS}\r\n\r\n')
    for body in (image[:100], image):
        with socket.create_connection(('127.0.0.1', server.port)) as connection:
            connection.sendall(head.encode() + body)


def metrics():
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        print('python3-prometheus-client is not here; skipped')
        sys.exit(77)
    with start('--load', 'mark', '--load', 'canary') as server:
        for _ in range(3):
            same(server.predict(bytes(PIXELS))[0], 200)
        same(server.predict(bytes(PIXELS), {'X-Keyway-Backend': 'canary'})[0], 200)
        is_error(server.get('/v1/nothing'), 404, '')
        wait_for('a grace period', lambda: figure(server, 'keyway_reclaim_seconds_count'))
        families = {family.name: family for family in
                    text_string_to_metric_families(server.get('/metrics')[1])}

        def value(family, name, **labels):
            found = [sample.value for sample in families[family].samples
                     if sample.name == name and labels.items() <= sample.labels.items()]
            same(len(found), 1)
            return found[0]

        same(value('keyway_operator_calls', 'keyway_operator_calls_total', operator='nn::relu',
                   key='CPU'), 9)
        same(value('keyway_operator_seconds', 'keyway_operator_seconds_count',
                   operator='nn::conv2d', key='CPU'), 6)
        same(value('keyway_operator_seconds', 'keyway_operator_seconds_count',
                   operator='nn::conv2d', key='CANARY'), 2)
        assert value('keyway_operator_seconds', 'keyway_operator_seconds_sum',
                     operator='nn::conv2d', key='CPU') > 0
        same(value('serve_predict_seconds', 'serve_predict_seconds_count'), 4)
        same(value('serve_batch_images', 'serve_batch_images_sum'), 4)
        same(value('serve_requests', 'serve_requests_total', route='/v1/predict', code='2xx'), 4)
        same(value('serve_requests', 'serve_requests_total', route='', code='4xx'), 1)
        same(value('keyway_plugins', 'keyway_plugins', state='serving'), 2)
        same(value('keyway_plugins_loaded', 'keyway_plugins_loaded_total'), 2)
        assert value('keyway_reclaim_seconds', 'keyway_reclaim_seconds_sum') > 0
        assert value('keyway_commits', 'keyway_commits_total') >= 3
        assert value('keyway_memory_bytes', 'keyway_memory_bytes') > 10000
        assert value('process_resident_memory_bytes', 'process_resident_memory_bytes') > 1000000
        for family in families.values():
            check_histogram(family)


def check_histogram(family):
    """Buckets grow, and the last one is the count."""
    if family.type != 'histogram':
        return
    counts = {}
    for sample in family.samples:
        labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != 'le'))
        if sample.name.endswith('_bucket'):
            assert sample.value >= counts.get(labels, 0), sample
            counts[labels] = sample.value
        elif sample.name.endswith('_count'):
            same(counts[labels], sample.value)


def listen(server):
    """Opens the event stream."""
    connection = connect(server.port)
    connection.request('GET', '/v1/events')
    stream = connection.getresponse()
    same(stream.getheader('Content-Type'), 'text/event-stream')
    same(read_event(stream), (None, None))  # how soon to come again
    return stream


def hear(stream, condition):
    """Reads events until one tells that what is loaded fulfils the condition."""
    for _ in range(400):
        kind, data = read_event(stream)
        if kind == 'plugins' and condition(data['loaded']):
            return
    raise AssertionError('it was not told')


def read_event(stream):
    kind, data = None, None
    while line := stream.readline().decode().rstrip('\n'):
        name, _, value = line.partition(': ')
        if name == 'event':
            kind = value
        elif name == 'data':
            data = json.loads(value)
    return kind, data


def events():
    with start() as server:
        stream = listen(server)
        same(server.change('mark', 'load')[0], 200)
        wanted = {'commit', 'plugins', 'figures'}
        while wanted:
            kind, data = read_event(stream)
            if kind == 'commit' and data['operator'] == 'nn::softmax':
                same(data['key'], 'CPU')
                assert data['current'].startswith('softmax in mark 1.0'), data
                wanted.discard(kind)
            elif kind == 'plugins' and data['loaded']:
                same(data['loaded'][0]['name'], 'mark')
                wanted.discard(kind)
            elif kind == 'figures':
                assert data['version'] >= 1 and data['failed'] == 0, data
                wanted.discard(kind)
        server.stop()  # with the stream open: it ends
        while stream.readline():
            pass


def stop():
    """Requests in flight are answered, new ones are not; by signal and by request."""
    sample = Sample(DATA)
    for how in (signal.SIGTERM, signal.SIGINT, 'request'):
        with tempfile.TemporaryDirectory() as folder:
            gate = os.path.join(folder, 'gate')
            with start('--load', 'gate', '--load', 'mark', '--batch', '2', '--workers', '1',
                       environment={'SERVE_TEST_GATE': gate}) as server:
                stop_in_flight(server, sample, how, gate)
                server.check_end()
                assert '5 predictions answered, 0 not' in server.output, server.output
                assert '2 plugins loaded, 2 unmapped, 0 retained' in server.output, server.output


def stop_in_flight(server, sample, how, gate):
    idle = connect(server.port)
    same(request(server.port, 'GET', '/healthz', connection=idle)[0], 200)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        held = [pool.submit(server.predict, sample.image(i)) for i in range(5)]
        # The worker has a batch of one or two; the others wait. All five have to be in.
        wait_for('the requests', lambda: figure(server, 'serve_waiting_requests') +
                 figure(server, 'serve_batch_images_sum') == 5)
        if how == 'request':
            same(server.admin('POST', '/v1/stop')[0], 202)
        else:
            server.process.send_signal(how)
        wait_for('the closed port', lambda: is_refused(server))
        is_error(request(server.port, 'GET', '/healthz', connection=idle), 503, 'stopping')
        assert not any(future.done() for future in held)
        open(gate, 'w').close()
        for index, future in enumerate(held):
            status, answer = future.result()
            same(status, 200)
            sample.check(index, answer)


TESTS = {function.__name__: function for function in
         (bad_input, canary, elsewhere, endpoints, events, holders, limits, metrics, names,
         plugins, predictions, stop)}
TESTS['concurrent'] = concurrent_requests
TESTS[sys.argv[4]]()
print(f'{sys.argv[4]}: passed')
