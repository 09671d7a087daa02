// The strip: throughput and latency of the last two minutes, with a mark for each commit.
//
// Layer:   example (uses text)
// Threads: one browser tab
// SPDX-License-Identifier: MIT
//
// Latency has a logarithmic axis with fixed ends, so that a slow moment does not rescale the rest.

import {clock, count, milliseconds, write} from './text.js';

const SPAN_MS = 120000;
const GAP_MS = 1500; // between two samples; longer: the server was gone
const LEFT = 58;
const RIGHT = 10;
const LATENCY_MIN_MS = 0.1;
const LATENCY_MAX_MS = 1000;
const NEAR_PIXELS = 8; // of a commit, to point at it
const LABELLED_MAX = 40; // commits; more have only a short mark

function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(Math.max(value, 10)));
    return [1, 2, 5, 10].map((step) => step * power).find((bound) => bound >= value);
}

export class Strip {
    #canvas;
    #readout;
    #commits;
    #samples = []; // {time, rate, p50, p99}; the latencies of a time without requests are null
    #chosen = null; // the commit whose text is shown
    #pointer = null; // the place of the mouse in the canvas
    #top = 100; // of the axis of throughput

    constructor(canvas, readout, commits) {
        this.#canvas = canvas;
        this.#readout = readout;
        this.#commits = commits;
        canvas.addEventListener('pointermove', (event) => this.#point(event.offsetX));
        canvas.addEventListener('pointerdown', (event) => this.#point(event.offsetX));
        canvas.addEventListener('pointerleave', () => this.#point(null));
        canvas.addEventListener('keydown', (event) => this.#press(event));
        canvas.addEventListener('blur', () => this.#choose(null));
        new ResizeObserver(() => this.draw()).observe(canvas);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    }

    add(figures) {
        const isIdle = figures.requests_per_second === 0;
        this.#samples.push({time: Date.now(), rate: figures.requests_per_second,
            p50: isIdle ? null : figures.p50_ms, p99: isIdle ? null : figures.p99_ms});
        while (this.#samples[0].time < Date.now() - SPAN_MS) {
            this.#samples.shift();
        }
        this.draw();
    }

    #visible() {
        const first = Date.now() - SPAN_MS;
        return this.#commits.all.filter((commit) => commit.time >= first);
    }

    #x(time) {
        const width = this.#canvas.clientWidth - LEFT - RIGHT;
        return LEFT + width * (1 - (Date.now() - time) / SPAN_MS);
    }

    #point(x) {
        this.#pointer = x;
        if (x === null) {
            this.#choose(null);
            return;
        }
        const near = this.#visible().filter((one) => Math.abs(this.#x(one.time) - x) < NEAR_PIXELS);
        near.sort((a, b) => Math.abs(this.#x(a.time) - x) - Math.abs(this.#x(b.time) - x));
        this.#choose(near[0] ?? null);
    }

    #press(event) {
        const shown = this.#visible();
        const at = this.#chosen === null ? shown.length : shown.indexOf(this.#chosen);
        const next = {ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
            Home: 0, End: shown.length - 1}[event.key];
        if (event.key === 'Escape') {
            this.#choose(null);
        } else if (next !== undefined && shown.length > 0) {
            this.#choose(shown[Math.max(0, Math.min(next, shown.length - 1))]);
            event.preventDefault();
        }
    }

    #choose(commit) {
        this.#chosen = commit;
        const shown = this.#visible();
        this.#canvas.setAttribute('aria-valuemax', Math.max(shown.length - 1, 0));
        this.#canvas.setAttribute('aria-valuenow', Math.max(shown.indexOf(commit), 0));
        this.#canvas.setAttribute('aria-valuetext', commit !== null ? this.#tell(commit)
            : `${shown.length} commits`);
        this.draw();
    }

    #tell(commit) {
        return `${clock(commit.time)}, version ${commit.version}. ${commit.text}`;
    }

    #read() {
        if (this.#chosen !== null) {
            return this.#tell(this.#chosen);
        }
        if (this.#pointer === null || this.#samples.length === 0) {
            return 'Point at a commit to see what it changed.';
        }
        const distance = (sample) => Math.abs(this.#x(sample.time) - this.#pointer);
        const near = this.#samples.reduce((a, b) => (distance(b) < distance(a) ? b : a));
        return `${clock(near.time)}. ${count(near.rate)} requests/s` + (near.p50 === null ? ''
            : `, median ${milliseconds(near.p50)} ms`
                + `, 99th percentile ${milliseconds(near.p99)} ms`);
    }

    draw() {
        const {clientWidth: width, clientHeight: height} = this.#canvas;
        const ratio = devicePixelRatio;
        if (this.#canvas.width !== Math.round(width * ratio)
            || this.#canvas.height !== Math.round(height * ratio)) {
            this.#canvas.width = Math.round(width * ratio);
            this.#canvas.height = Math.round(height * ratio);
        }
        const style = getComputedStyle(this.#canvas);
        const colour = (name) => style.getPropertyValue(name);
        const pen = this.#canvas.getContext('2d');
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.clearRect(0, 0, width, height);
        pen.font = `11px ${style.fontFamily}`;
        pen.textBaseline = 'middle';
        const middle = Math.round((height - 26) / 2);
        const upper = {from: 16, to: middle - 12};
        const lower = {from: middle + 10, to: height - 22};
        this.#drawAxes(pen, width, height, upper, lower, colour);
        this.#drawCommits(pen, upper, lower, colour);
        this.#drawRate(pen, upper, colour);
        this.#drawLatency(pen, lower, 'p99', colour('--p99'), 1);
        this.#drawLatency(pen, lower, 'p50', colour('--ink'), 1.5);
        write(this.#readout, this.#read());
    }

    // Axes grow at once and shrink only when they are five times too tall: no flicker.
    #rateTop() {
        const most = roundUp(Math.max(...this.#samples.map((sample) => sample.rate), 1));
        if (most > this.#top || most * 5 <= this.#top) {
            this.#top = most;
        }
        return this.#top;
    }

    #drawAxes(pen, width, height, upper, lower, colour) {
        pen.strokeStyle = colour('--line');
        pen.fillStyle = colour('--quiet');
        pen.lineWidth = 1;
        const level = (y, label) => {
            pen.beginPath();
            pen.moveTo(LEFT, Math.round(y) + 0.5);
            pen.lineTo(width - RIGHT, Math.round(y) + 0.5);
            pen.stroke();
            pen.textAlign = 'right';
            pen.fillText(label, LEFT - 8, y);
        };
        const top = this.#rateTop();
        level(upper.from, `${count(top)}/s`);
        level(upper.to, '0');
        for (const value of [0.1, 1, 10, 100, 1000]) {
            level(this.#latencyY(value, lower), value === 1000 ? '1 s' : `${value} ms`);
        }
        for (const [ago, label] of [[120, '2 min ago'], [60, '1 min ago'], [0, 'now']]) {
            pen.textAlign = {120: 'left', 0: 'right'}[ago] ?? 'center';
            pen.fillText(label, this.#x(Date.now() - ago * 1000), height - 7);
        }
    }

    #drawCommits(pen, upper, lower, colour) {
        const shown = this.#visible();
        const isCrowded = shown.length > LABELLED_MAX;
        for (const commit of shown) {
            const x = Math.round(this.#x(commit.time)) + 0.5;
            const isChosen = commit === this.#chosen;
            pen.strokeStyle = pen.fillStyle = colour('--mark');
            pen.lineWidth = isChosen ? 2 : 1;
            pen.globalAlpha = isChosen ? 1 : 0.55;
            pen.beginPath();
            pen.moveTo(x, 8);
            pen.lineTo(x, isCrowded && !isChosen ? upper.from : lower.to);
            pen.stroke();
            pen.globalAlpha = 1;
            pen.beginPath();
            pen.moveTo(x - 4, 2);
            pen.lineTo(x + 4, 2);
            pen.lineTo(x, 9);
            pen.fill();
        }
    }

    // Calls `each` with runs of samples between which the server was never gone.
    #runs(each) {
        let run = [];
        for (const sample of this.#samples) {
            if (run.length > 0 && sample.time - run.at(-1).time > GAP_MS) {
                each(run);
                run = [];
            }
            run.push(sample);
        }
        if (run.length > 0) {
            each(run);
        }
    }

    #drawRate(pen, area, colour) {
        const y = (rate) => area.to - (area.to - area.from) * Math.min(rate / this.#top, 1);
        this.#runs((run) => {
            pen.beginPath();
            run.forEach((sample) => pen.lineTo(this.#x(sample.time), y(sample.rate)));
            pen.strokeStyle = colour('--accent');
            pen.lineWidth = 1.5;
            pen.stroke();
            pen.lineTo(this.#x(run.at(-1).time), area.to);
            pen.lineTo(this.#x(run[0].time), area.to);
            pen.fillStyle = colour('--accent');
            pen.globalAlpha = 0.14;
            pen.fill();
            pen.globalAlpha = 1;
        });
    }

    #latencyY(value, area) {
        const limited = Math.min(Math.max(value, LATENCY_MIN_MS), LATENCY_MAX_MS);
        const share = Math.log(limited / LATENCY_MIN_MS)
            / Math.log(LATENCY_MAX_MS / LATENCY_MIN_MS);
        return area.to - (area.to - area.from) * share;
    }

    #drawLatency(pen, area, name, colour, thickness) {
        pen.strokeStyle = colour;
        pen.lineWidth = thickness;
        this.#runs((run) => {
            let isDown = false;
            pen.beginPath();
            for (const sample of run) {
                if (sample[name] === null) {
                    isDown = false;
                    continue;
                }
                const point = [this.#x(sample.time), this.#latencyY(sample[name], area)];
                isDown ? pen.lineTo(...point) : pen.moveTo(...point);
                isDown = true;
            }
            pen.stroke();
        });
    }
}
