// The page: listens to the server's events, and keeps all its parts up to date.
//
// Layer:   example (uses the scripts beside it)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

import {Commits} from './commits.js';
import {Images} from './images.js';
import {Plugins} from './plugins.js';
import {change, get, readConfig, Refusal} from './server.js';
import {Strip} from './strip.js';
import {Tables} from './tables.js';
import {clock, count, milliseconds, write} from './text.js';

const SILENCE_MS = 3000; // without an event, of which the server sends four a second
const LOST_MS = 15000; // then the connection is given up
const RETRY_MS = 1000;
const TABLES_MS = 500;
const COMMITS_MS = 50; // in which the events of a commit, or several commits, are read as one
const PLUGINS_MS = 1000; // what holds a plugin that leaves is no event

const find = (id) => document.getElementById(id);
const commits = new Commits(find('commits'));
const strip = new Strip(find('strip'), find('readout'), commits);
const tables = new Tables(find('tables'), find('rules'));
const plugins = new Plugins(find('plugins'), find('plugins-note'), find('said'), tables, readSoon);
const images = new Images(find('images'), find('tally'));

let stream = null;
let isConnected = false;
let heard = 0; // when the last event came
let looked = 0; // when it was last looked whether events come
let lost = null; // when the connection was lost
let isSettingPercent = false;
let reading = null; // the timer of a reading that commits have asked for

function showConnection(state, text) {
    find('connection').dataset.state = state;
    write(find('connection'), text);
    document.body.dataset.connection = state;
    plugins.isReachable = state === 'open' || state === 'silent';
    plugins.refresh();
    showCanary();
}

// Runs something that asks the server. No answer is told by the connection; all else is an error.
async function attempt(action) {
    try {
        return await action();
    } catch (error) {
        if (!(error instanceof Refusal)) {
            throw error;
        }
        return null;
    }
}

function showFigures(figures) {
    const isIdle = figures.requests_per_second === 0;
    const texts = {
        rate: count(figures.requests_per_second),
        p50: isIdle ? '–' : milliseconds(figures.p50_ms),
        p99: isIdle ? '–' : milliseconds(figures.p99_ms),
        waiting: count(figures.waiting),
        failed: count(figures.failed),
        answered: count(figures.answered + figures.failed),
        version: count(figures.version),
    };
    for (const [name, text] of Object.entries(texts)) {
        write(document.querySelector(`[data-figure=${name}]`), text);
    }
    document.querySelector('[data-figure=failed]').classList.toggle('bad', figures.failed > 0);
    strip.add(figures);
    if (!isSettingPercent && document.activeElement !== find('percent')) {
        showPercent(figures.canary_percent);
    }
}

function showPercent(percent) {
    find('percent').value = percent;
    write(find('percent-value'), `${percent} %`);
}

function showCanary() {
    const isThere = tables.hasCanary();
    write(find('canary-note'), isThere ? 'Kernels for it are loaded.'
        : 'No loaded plugin has kernels for it; requests go without.');
    find('canary-images').disabled = !isThere;
}

async function setPercent() {
    isSettingPercent = true;
    try {
        showPercent((await change('/v1/canary', {percent: Number(find('percent').value)})).percent);
    } catch (error) {
        if (!(error instanceof Refusal)) {
            throw error;
        }
        write(find('canary-note'), error.message);
    } finally {
        isSettingPercent = false;
    }
}

async function readTables() {
    await tables.read();
    plugins.refresh();
    showCanary();
}

async function readPlugins() {
    plugins.update(await get('/v1/plugins'));
}

function readSoon() {
    attempt(readPlugins);
    attempt(readTables);
}

// What another server, or the same after a while, has to say.
async function begin() {
    await readConfig();
    commits.restart();
    await tables.start();
    await readPlugins();
    await images.start();
}

function disconnect() {
    stream?.close();
    stream = null;
    isConnected = false;
    images.stop();
    lost ??= Date.now();
    showConnection('lost', `Server gone since ${clock(lost)}, trying again`);
    setTimeout(connect, RETRY_MS);
}

function hear(kind, action) {
    stream.addEventListener(kind, (event) => {
        heard = Date.now();
        if (document.body.dataset.connection === 'silent') {
            showConnection('open', 'Connected');
        }
        action(JSON.parse(event.data));
    });
}

function connect() {
    const opening = stream = new EventSource('/v1/events');
    heard = Date.now();
    stream.onerror = disconnect;
    stream.onopen = async () => {
        const hasBegun = await attempt(async () => (await begin(), true));
        if (stream !== opening) {
            return; // it has been lost meanwhile
        }
        if (!hasBegun) {
            disconnect();
            return;
        }
        isConnected = true;
        lost = null;
        images.run();
        showConnection('open', 'Connected');
    };
    hear('figures', showFigures);
    hear('plugins', (known) => plugins.update(known));
    hear('commit', (event) => {
        commits.add(event);
        reading ??= setTimeout(() => {
            reading = null;
            attempt(readTables);
        }, COMMITS_MS);
    });
}

find('percent').addEventListener('input', () => {
    write(find('percent-value'), `${find('percent').value} %`);
});
find('percent').addEventListener('change', setPercent);
find('rate').addEventListener('change', () => images.run(Number(find('rate').value)));
find('others').addEventListener('click', () => attempt(() => images.start()));
find('pause').addEventListener('click', () => {
    images.isPaused = !images.isPaused;
    write(find('pause'), images.isPaused ? 'Go on' : 'Pause');
});
images.toCanary = () => find('canary-images').checked && tables.hasCanary();

// Tells when the server is silent. After a sleep of the page itself, events wait to be heard.
function checkSilence() {
    if (Date.now() - looked > SILENCE_MS) {
        heard = Date.now();
    }
    looked = Date.now();
    if (stream !== null && looked - heard > LOST_MS) {
        disconnect();
    } else if (isConnected && looked - heard > SILENCE_MS) {
        showConnection('silent', `No news since ${clock(heard)}`);
    }
}

setInterval(() => {
    checkSilence();
    if (isConnected && !document.hidden) {
        attempt(readTables);
    } else {
        strip.draw(); // time goes on
    }
}, TABLES_MS);
setInterval(() => {
    if (isConnected && plugins.hasLeaving()) {
        attempt(readPlugins);
    }
}, PLUGINS_MS);
connect();
