// Requests to the two ports of the server.
//
// Layer:   example (uses the HTTP interface)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

import {sentence} from './text.js';

const CHANGE_MS_MAX = 70000; // a change may wait for calls for a minute
const ANSWER_MS_MAX = 15000;

export const config = {adminPort: 0, labels: []};

// An answer that refuses, or no answer. Its message is a sentence.
export class Refusal extends Error {
    constructor(message, status) {
        super(message);
        this.status = status; // 0: there was no answer
    }
}

async function exchange(url, options, limit, whoIsSilent) {
    let response;
    let answer;
    try {
        response = await fetch(url, {cache: 'no-store', signal: AbortSignal.timeout(limit),
            ...options});
        answer = await response.json();
    } catch {
        throw new Refusal(`${whoIsSilent} does not answer.`, 0);
    }
    if (!response.ok) {
        throw new Refusal(sentence(answer.error ?? `status ${response.status}`), response.status);
    }
    return answer;
}

export function get(path) {
    return exchange(path, {}, ANSWER_MS_MAX, 'The server');
}

export function predict(pixels, toCanary) {
    const headers = {'Content-Type': 'application/octet-stream'};
    if (toCanary) {
        headers['X-Keyway-Backend'] = 'canary';
    }
    return exchange('/v1/predict', {method: 'POST', headers, body: pixels}, CHANGE_MS_MAX,
        'The server');
}

// A change by the administration, which is another origin: the same host, the other port.
export function change(path, body) {
    return exchange(`http://${location.hostname}:${config.adminPort}${path}`,
        {method: 'POST', headers: {'Content-Type': 'application/json'},
            body: JSON.stringify(body)},
        CHANGE_MS_MAX, `The administration on port ${config.adminPort}`);
}

export async function readConfig() {
    const answer = await get('/v1/config');
    config.adminPort = answer.admin_port;
    config.labels = answer.labels;
}
