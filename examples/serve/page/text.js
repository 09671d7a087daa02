// How numbers, times and sentences are written, and elements made.
//
// Layer:   example (needs nothing)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

// An error of the server as a sentence: without the folders of its files, with a full stop.
export function sentence(text) {
    const short = text.replace(/\S*\/(serve_[\w-]+\.so)/g, '$1').replaceAll('`', '');
    const full = /^\S*[._]\S/.test(short) ? short // begins with the name of a file
        : short.charAt(0).toUpperCase() + short.slice(1);
    return /[.!?]$/.test(full) ? full : full + '.';
}

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});

export function count(value) {
    return whole.format(value);
}

// Three digits, so that columns keep their width.
export function milliseconds(value) {
    return value >= 100 ? whole.format(value) : value.toFixed(value >= 10 ? 1 : 2);
}

export function bytes(value) {
    return value < 10240 ? `${whole.format(value)} B` : `${whole.format(value / 1024)} KiB`;
}

export function clock(moment) {
    return new Date(moment).toLocaleTimeString('en-GB');
}

// Writes a text only where it differs, so that nothing is laid out or read out again.
export function write(element, text) {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

// make('td', 'name', child, ...): an element with a class and children.
export function make(tag, name = '', ...children) {
    const element = document.createElement(tag);
    if (name !== '') {
        element.className = name;
    }
    element.append(...children);
    return element;
}
