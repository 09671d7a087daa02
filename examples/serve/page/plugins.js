// The plugins: a row for each, with its state, the choice of a file, and what can be done with it.
//
// Layer:   example (uses server, text)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

import {change, Refusal} from './server.js';
import {bytes, make, write} from './text.js';

const DRAIN_MS = 500; // what is held for longer leaves later, and its row says what holds it
const WORDS = {load: 'Load', replace: 'Replace', rollback: 'Roll back', unload: 'Unload'};
const DOING = {load: 'is being loaded', replace: 'is being replaced',
    rollback: 'is being rolled back', unload: 'is being unloaded, which waits for its calls'};
const DONE = {load: 'is loaded', replace: 'is replaced', rollback: 'is rolled back',
    unload: 'is unloaded'};

// Files that are likely meant for a plugin: its own, and those named after it.
function isLikely(file, name) {
    return file.name === name || file.name.startsWith(`${name}_`);
}

class Row {
    #panel;
    #state = make('span', 'state');
    #files = make('select');
    #detail = make('p', 'detail');
    #message = make('p', 'message');
    #buttons = new Map();
    #reasons = {};
    #doing = null; // the change that is being made
    #offered = '';

    constructor(panel, name) {
        this.#panel = panel;
        this.name = name;
        this.#files.setAttribute('aria-label', `File to load or replace ${name} with`);
        const actions = make('div', 'actions');
        for (const [word, label] of Object.entries(WORDS)) {
            const button = make('button', '', label);
            button.type = 'button';
            button.addEventListener('click', () => this.#press(word));
            this.#buttons.set(word, button);
            actions.append(button);
        }
        this.element = make('li', 'plugin', make('h3', '', name), this.#state, this.#files, actions,
            this.#detail, this.#message);
        this.element.dataset.name = name;
    }

    // `versions` are those in memory: one that serves, perhaps, and others that leave.
    update(versions, files, entries, isReachable) {
        const serving = versions.find((version) => version.state === 'serving');
        const leaving = versions.filter((version) => version !== serving);
        const file = files.find((one) => one.name === this.name);
        const state = serving?.state ?? leaving[0]?.state ?? 'not loaded';
        write(this.#state, state);
        this.#state.dataset.state = state;
        this.#offer(files);
        write(this.#detail, [
            serving ? this.#describe(serving, entries)
                : file ? bytes(file.bytes) : 'the file is gone',
            ...leaving.map((version) => this.#describeLeaving(version)),
        ].join(' · '));
        if (leaving.length > 0) {
            this.#detail.style.minHeight = `${this.#detail.offsetHeight}px`;
        }
        this.#allow(serving, isReachable);
    }

    #describe(version, entries) {
        const what = entries.called.length > 0 ? `runs ${entries.called.join(', ')}`
            : entries.all.length > 0 ? `idle: ${entries.all.join(', ')}`
                : 'covered by others';
        const parts = [`${version.version}, loading ${version.generation ?? '?'}`, what];
        if (version.file !== `serve_${this.name}.so`) {
            parts.push(version.file);
        }
        if (version.build_id !== '') {
            parts.push(`build ${version.build_id.slice(0, 8)}`);
        }
        return parts.join(' · ');
    }

    #describeLeaving(version) {
        const held = (version.held_by || version.retained)
            .replace(/^library .*? is held by/, 'held by').replaceAll('`', '');
        return `${version.version} ${version.state}${held === '' ? '' : `: ${held}`}`;
    }

    #offer(files) {
        const wanted = JSON.stringify(files.map((file) => file.file));
        if (wanted === this.#offered || document.activeElement === this.#files) {
            return;
        }
        const chosen = this.#files.value;
        const option = (file) => make('option', '', file.file);
        const others = make('optgroup', '', ...files.filter((file) => !isLikely(file, this.name))
            .map(option));
        others.label = 'of other plugins';
        this.#files.replaceChildren(
            ...files.filter((file) => isLikely(file, this.name)).map(option), others);
        if (files.some((file) => file.file === chosen)) {
            this.#files.value = chosen;
        }
        this.#offered = wanted;
    }

    #allow(serving, isReachable) {
        const name = this.name;
        const always = !isReachable ? 'The server does not answer.'
            : this.#doing !== null ? `${name} ${DOING[this.#doing]}.` : '';
        const missing = always || (serving ? '' : `${name} is not loaded.`);
        this.#reasons = {
            load: always || (serving ? `${name} serves already; replace it.` : ''),
            replace: missing,
            rollback: missing || (serving.can_roll_back ? ''
                : `There is no version of ${name} to go back to; replace it first.`),
            unload: missing,
        };
        for (const [word, button] of this.#buttons) {
            const reason = this.#reasons[word];
            button.setAttribute('aria-disabled', reason !== '');
            button.setAttribute('aria-label', `${WORDS[word]} ${name}`);
            button.title = reason;
        }
    }

    // Texts keep their room until the next press: what is below does not move by itself.
    #tell(text, isBad) {
        this.#detail.style.minHeight = this.#message.style.minHeight = '';
        write(this.#message, text);
        this.#message.classList.toggle('bad', isBad);
        this.#message.style.minHeight = `${this.#message.offsetHeight}px`;
    }

    async #press(word) {
        if (this.#reasons[word] !== '') {
            this.#tell(this.#reasons[word], false);
            this.#panel.say(this.#reasons[word]);
            return;
        }
        this.#doing = word;
        this.#tell('', false);
        this.#buttons.get(word).classList.add('busy');
        this.#panel.refresh();
        const body = {drain_ms: DRAIN_MS};
        if (word === 'load' || word === 'replace') {
            body.file = this.#files.value;
        }
        try {
            const answer = await change(`/v1/plugins/${this.name}/${word}`, body);
            this.#panel.say(`${this.name} ${DONE[word]}, version ${answer.version}`
                + (answer.held_by === '' ? '.' : ', and held still.'));
        } catch (error) {
            if (!(error instanceof Refusal)) {
                throw error;
            }
            this.#tell(error.message, true);
            this.#panel.say(error.message);
        } finally {
            this.#doing = null;
            this.#buttons.get(word).classList.remove('busy');
            this.#panel.refresh();
        }
        this.#panel.changed();
    }
}

export class Plugins {
    #list;
    #note;
    #said;
    #tables;
    #rows = new Map();
    #known = {available: [], loaded: [], figures: null};

    // `changed` is called when a change has been answered.
    constructor(list, note, said, tables, changed) {
        this.#list = list;
        this.#note = note;
        this.#said = said;
        this.#tables = tables;
        this.changed = changed;
        this.isReachable = false;
    }

    // Only for those who do not see the row that says it too.
    say(text) {
        write(this.#said, text);
    }

    hasLeaving() {
        return this.#known.loaded.some((version) => version.state !== 'serving'
            && version.state !== 'retained');
    }

    update(known) {
        this.#known = known;
        this.refresh();
    }

    refresh() {
        const {available, loaded, figures} = this.#known;
        const names = [...new Set([...available, ...loaded].map((one) => one.name))].sort();
        for (const [name, row] of this.#rows) {
            if (!names.includes(name)) {
                row.element.remove();
                this.#rows.delete(name);
            }
        }
        names.forEach((name, index) => {
            const row = this.#rows.get(name) ?? new Row(this, name);
            this.#rows.set(name, row);
            if (this.#list.children[index] !== row.element) {
                this.#list.insertBefore(row.element, this.#list.children[index] ?? null);
            }
            row.update(loaded.filter((version) => version.name === name), available,
                this.#tables.entriesOf(name), this.isReachable);
        });
        if (figures !== null) {
            write(this.#note, names.length === 0 ? 'The plugin folder is empty.'
                : `${figures.serving} serving · ${figures.leaving} leaving · `
                    + `${figures.unmapped} of ${figures.loaded} loadings unmapped`);
        }
    }
}
