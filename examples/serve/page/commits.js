// Commits: what each of them changed, in words, and the list of the last ones.
//
// Layer:   example (uses text)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

import {clock, make} from './text.js';

const LISTED_MAX = 40;
const USUAL_KEY = 'CPU'; // not named

// "softmax in mark 1.0 at mark.c:60" is of the library "mark 1.0".
function libraryOf(kernel) {
    return kernel === null ? 'none' : / in (.*) at /.exec(kernel)?.[1] ?? kernel;
}

// A line for each key and pair of libraries: "conv2d, linear: builtin → openblas 1.0".
function describe(changes) {
    const lines = new Map();
    for (const {operator, key, previous, current} of changes.values()) {
        if (previous === current) {
            continue; // taken away and put back by the same commit
        }
        const place = key === USUAL_KEY ? '' : ` at ${key}`;
        const line = `${place}: ${libraryOf(previous)} → ${libraryOf(current)}`;
        const name = operator === null ? 'fallback' : operator.replace('nn::', '');
        lines.set(line, [...lines.get(line) ?? [], name]);
    }
    return [...lines].map(([line, names]) => names.join(', ') + line).join('; ')
        || 'nothing that a call notices';
}

export class Commits {
    #list;
    #open = null; // the commit whose events are coming in

    constructor(list) {
        this.all = []; // the last ones, oldest first: {version, time, text}
        this.#list = list;
        this.#list.append(make('li', 'none', 'None since this page was opened.'));
    }

    // Events of a commit follow each other and have its version.
    add(event) {
        if (this.#open?.version !== event.version) {
            this.#begin(event.version);
        }
        const place = `${event.operator} ${event.key}`;
        const before = this.#open.changes.get(place);
        this.#open.changes.set(place,
            {...event, previous: before ? before.previous : event.previous});
        this.#open.text = describe(this.#open.changes);
        this.#open.line.textContent = this.#open.text;
    }

    // Another server counts from the beginning.
    restart() {
        this.#open = null;
    }

    #begin(version) {
        this.#open = {version, time: Date.now(), text: '', changes: new Map(),
            line: make('span', 'what')};
        this.all.push(this.#open);
        this.#list.querySelector('.none')?.remove();
        this.#list.prepend(make('li', '', make('span', 'version', String(version)),
            make('time', '', clock(this.#open.time)), this.#open.line));
        while (this.#list.children.length > LISTED_MAX) {
            this.#list.lastElementChild.remove();
        }
        if (this.all.length > 1000) {
            this.all.splice(0, 500);
        }
    }
}
