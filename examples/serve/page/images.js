// The test images: sent one after the other, again and again, with what was answered.
//
// Layer:   example (uses server, text)
// Threads: one browser tab
// SPDX-License-Identifier: MIT
//
// The same images come again, so that a kernel that answers differently is seen: "class changed"
// and "logits moved" compare with the first answer to an image. "Right" compares with the label of
// the data set; the network itself is wrong about one image in ten.

import {get, predict, Refusal} from './server.js';
import {count, make, write} from './text.js';

const IMAGE_COUNT = 24;
const SIDE = 28;
const IN_FLIGHT_MAX = 3; // a browser has six connections to a server, and others need some
const TRIPS_KEPT = 101;
const WAITING_MS = 500; // from then on an image without an answer says that it waits

// Black with the pixel's value as opacity; the style inverts it where the page is dark.
function draw(canvas, pixels) {
    const pen = canvas.getContext('2d');
    const picture = pen.createImageData(SIDE, SIDE);
    pixels.forEach((value, index) => {
        picture.data[4 * index + 3] = value;
    });
    pen.putImageData(picture, 0, 0);
}

// A browser's clock is no better.
function tenths(value) {
    return value.toFixed(value < 100 ? 1 : 0);
}

function distance(value) {
    return value === 0 || value >= 0.001 ? value.toFixed(value === 0 ? 0 : 3)
        : value.toExponential(0).replace('e-', 'e−');
}

class Cell {
    #canvas = make('canvas');
    #answer = make('span', 'answer', '–');
    #truth = make('span', 'truth');
    #trip = make('span', 'trip');

    constructor() {
        this.#canvas.width = this.#canvas.height = SIDE;
        this.#canvas.setAttribute('aria-hidden', 'true');
        this.element = make('li', '', this.#canvas, this.#answer, this.#trip, this.#truth);
        this.image = null;
    }

    show(image) {
        this.image = image;
        this.pixels = Uint8Array.from(image.pixels);
        this.first = null; // the first answer
        this.isRight = false;
        this.hasChanged = false;
        draw(this.#canvas, image.pixels);
        this.#fill('none', '–', '', '');
    }

    asked() {
        this.waiting = setTimeout(() => write(this.#trip, 'waiting'), WAITING_MS);
    }

    answered(answer, trip) {
        this.first ??= answer;
        this.isRight = answer.class === this.image.class;
        this.hasChanged ||= answer.class !== this.first.class;
        this.moved = Math.max(...answer.logits.map(
            (logit, index) => Math.abs(logit - this.first.logits[index])));
        const truth = answer.class !== this.first.class ? `first ${this.first.label}`
            : this.isRight ? '' : `is ${this.image.label}`;
        this.#fill(this.isRight ? 'right' : 'wrong', answer.label, truth,
            `${tenths(trip)} ms${answer.backend === 'canary' ? ' canary' : ''}`);
        this.element.classList.toggle('changed', answer.class !== this.first.class);
    }

    failed(sentence) {
        this.#fill('failed', 'no answer', sentence, '');
    }

    #fill(outcome, answer, truth, trip) {
        this.element.dataset.outcome = outcome;
        write(this.#answer, answer);
        write(this.#truth, truth);
        write(this.#trip, trip);
        this.element.title = truth;
    }
}

export class Images {
    #list;
    #tally;
    #cells = [];
    #next = 0;
    #inFlight = 0;
    #round = 0; // answers to images that have been replaced are of an earlier round
    #failed = 0;
    #moved = 0;
    #trips = [];
    #timer = null;
    #perSecond = 20;

    constructor(list, tally) {
        this.#list = list;
        this.#tally = tally;
        this.toCanary = () => false;
        this.isPaused = false;
    }

    async start() {
        const seed = Math.floor(Math.random() * 2 ** 48);
        const {images} = await get(`/v1/images?count=${IMAGE_COUNT}&seed=${seed}`);
        this.#cells = this.#cells.length > 0 ? this.#cells : images.map(() => new Cell());
        this.#cells.forEach((cell, index) => cell.show(images[index]));
        this.#list.replaceChildren(...this.#cells.map((cell) => cell.element));
        this.#round++;
        this.#failed = this.#moved = 0;
        this.#trips = [];
        this.#count();
    }

    run(perSecond = this.#perSecond) {
        this.#perSecond = perSecond;
        clearInterval(this.#timer);
        this.#timer = setInterval(() => this.#send(), 1000 / perSecond);
    }

    stop() {
        clearInterval(this.#timer);
    }

    async #send() {
        if (this.isPaused || document.hidden || this.#cells.length === 0
            || this.#inFlight >= IN_FLIGHT_MAX) {
            return;
        }
        const cell = this.#cells[this.#next++ % this.#cells.length];
        const round = this.#round;
        const started = performance.now();
        this.#inFlight++;
        cell.asked();
        try {
            const answer = await predict(cell.pixels, this.toCanary());
            if (round === this.#round) {
                this.#note(cell, answer, performance.now() - started);
            }
        } catch (error) {
            if (!(error instanceof Refusal)) {
                throw error;
            }
            if (round === this.#round && error.status !== 0) {
                this.#failed++;
                cell.failed(error.message);
                this.#count();
            }
        } finally {
            clearTimeout(cell.waiting);
            this.#inFlight--;
        }
    }

    #note(cell, answer, trip) {
        cell.answered(answer, trip);
        this.#moved = Math.max(this.#moved, cell.moved);
        this.#trips.push(trip);
        if (this.#trips.length > TRIPS_KEPT) {
            this.#trips.shift();
        }
        this.#count();
    }

    #count() {
        const answered = this.#cells.filter((cell) => cell.first !== null);
        const right = answered.filter((cell) => cell.isRight).length;
        const changed = answered.filter((cell) => cell.hasChanged).length;
        const sorted = [...this.#trips].sort((a, b) => a - b);
        const fill = (name, text, isBad = false) => {
            const element = this.#tally.querySelector(`[data-tally=${name}]`);
            write(element, text);
            element.classList.toggle('bad', isBad);
        };
        fill('right', answered.length === 0 ? '–' : `${right} of ${answered.length}`);
        fill('changed', count(changed), changed > 0);
        fill('moved', distance(this.#moved));
        fill('failed', count(this.#failed), this.#failed > 0);
        fill('trip', sorted.length === 0 ? '–' : tenths(sorted[sorted.length >> 1]));
    }
}
