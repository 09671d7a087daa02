// The dispatch tables: for each operator the entries that serve, and which of them ran last.
//
// Layer:   example (uses server, text)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

import {get} from './server.js';
import {count, make, write} from './text.js';

const FRESH_MS = 4000; // how long an entry that changed is marked
const LATELY_MS = 5000; // an entry that was called since then is in use

export const CANARY_KEY = 'CANARY';

// What the key of an entry, its kernel and its library amount to, as long as they stay the same.
function identity(row) {
    return `${row.key} ${row.serves} ${row.kernel}`;
}

class Table {
    #total;
    #body;
    #rows = new Map(); // by key
    #before = null; // {time, calls by key}

    constructor(operator) {
        const signature = operator.schema.slice(operator.name.length);
        this.name = operator.name;
        this.rows = [];
        this.#total = make('span', 'total', '–');
        this.#body = make('tbody');
        const caption = make('caption', '', make('span', 'operator', operator.name),
            make('span', 'calls', this.#total, ' calls/s'), make('span', 'signature', signature));
        const head = make('thead', 'for-readers', make('tr', '',
            ...['Key', 'Serves', 'Calls a second'].map((title) => {
                const cell = make('th', '', title);
                cell.scope = 'col';
                return cell;
            })));
        this.element = make('table', '', caption, head, this.#body);
    }

    update(answer) {
        this.rows = answer.rows;
        const rates = this.#measure(answer.rows);
        const isFirst = this.#rows.size === 0;
        const kept = new Set(answer.rows.map((row) => row.key));
        for (const [key, parts] of this.#rows) {
            if (!kept.has(key)) {
                parts.row.remove();
                this.#rows.delete(key);
            }
        }
        answer.rows.forEach((row, index) => {
            const parts = this.#rows.get(row.key) ?? this.#add(row.key);
            if (this.#body.children[index] !== parts.row) {
                this.#body.insertBefore(parts.row, this.#body.children[index] ?? null);
            }
            this.#fill(parts, row, rates?.get(row.key), isFirst);
        });
        const total = rates === null ? null : [...rates.values()].reduce((a, b) => a + b, 0);
        write(this.#total, total === null ? '–' : count(total));
    }

    wasCalledLately(key) {
        return performance.now() - this.#rows.get(key).called < LATELY_MS;
    }

    // Calls a second by key since the update before; null: there was none.
    #measure(rows) {
        const time = performance.now();
        const calls = new Map(rows.map((row) => [row.key, row.calls]));
        const before = this.#before;
        this.#before = {time, calls};
        return before === null ? null : new Map(rows.map((row) => [row.key, Math.max(0,
            (row.calls - (before.calls.get(row.key) ?? 0)) * 1000 / (time - before.time))]));
    }

    #add(key) {
        const parts = {
            identity: '',
            called: -Infinity, // when calls of this kernel were seen
            lamp: make('span', 'for-readers'),
            serves: make('span'),
            why: make('span', 'why'),
            rate: make('td', 'rate', '–'),
        };
        const head = make('th', 'key', key, ' ', parts.lamp);
        head.scope = 'row';
        const served = make('td', '', make('span', 'serves', parts.serves), parts.why);
        parts.row = make('tr', '', head, served, parts.rate);
        this.#rows.set(key, parts);
        return parts;
    }

    #fill(parts, row, rate, isFirst) {
        const file = row.file.slice(row.file.lastIndexOf('/') + 1);
        write(parts.serves, row.serves);
        write(parts.why, `${row.rule} · ${row.kernel}`
            + (file === '' ? '' : `, ${file}:${row.line}`));
        write(parts.rate, rate === undefined ? '–' : count(rate));
        write(parts.lamp, row.last ? 'ran last' : '');
        parts.row.classList.toggle('last', row.last);
        if (parts.identity !== identity(row) && !isFirst) {
            parts.row.classList.add('fresh');
            clearTimeout(parts.timer);
            parts.timer = setTimeout(() => parts.row.classList.remove('fresh'), FRESH_MS);
        }
        if (parts.identity !== identity(row)) {
            parts.called = -Infinity;
        } else if (rate > 0) {
            parts.called = performance.now();
        }
        parts.identity = identity(row);
    }
}

export class Tables {
    #place;
    #rules;
    #tables = [];
    #isReading = false;

    constructor(place, rules) {
        this.#place = place;
        this.#rules = rules;
    }

    async start() {
        const {operators} = await get('/v1/operators');
        this.#tables = operators.map((operator) => new Table(operator));
        this.#place.replaceChildren(...this.#tables.map((table) => table.element));
        await this.read();
    }

    // Reads all tables; one reading at a time, so that an older answer never overwrites a newer.
    async read() {
        if (this.#isReading) {
            return;
        }
        this.#isReading = true;
        try {
            const answers = await Promise.all(this.#tables.map(
                (table) => get(`/v1/operators/${table.name}/table`)));
            this.#tables.forEach((table, index) => table.update(answers[index]));
            this.#explain();
        } finally {
            this.#isReading = false;
        }
    }

    // Operators that have an entry of a plugin, and those whose entry of it was called lately:
    // names without their namespace.
    entriesOf(plugin) {
        const isOf = (row) => row.serves.startsWith(`${plugin}@`);
        const names = (tables) => tables.map((table) => table.name.replace('nn::', ''));
        const having = this.#tables.filter((table) => table.rows.some(isOf));
        const called = having.filter(
            (table) => table.rows.some((row) => isOf(row) && table.wasCalledLately(row.key)));
        return {all: names(having), called: names(called)};
    }

    hasCanary() {
        return this.#tables.length > 0 && this.#tables.every(
            (table) => table.rows.some((row) => row.key === CANARY_KEY));
    }

    // Each rule that occurs, once.
    #explain() {
        const rules = new Map(this.#tables.flatMap(
            (table) => table.rows.map((row) => [row.rule, row.sentence])));
        const shown = [...this.#rules.querySelectorAll('dt')].map((term) => term.textContent);
        if (shown.join() !== [...rules.keys()].join()) {
            this.#rules.replaceChildren(...[...rules].flatMap(
                ([rule, text]) => [make('dt', '', rule), make('dd', '', text)]));
        }
    }
}
