// Checks that the page's test makes in the page: contrast, names of controls, room and jumps.
//
// Layer:   example (put into the page by page_test.py)
// Threads: one browser tab
// SPDX-License-Identifier: MIT

(() => {
    const CONTRAST_MIN = 4.5; // WCAG 2, level AA

    // [red, green, blue, opacity]; browsers also answer with "color(srgb r g b)".
    function parse(colour) {
        const numbers = colour.match(/[\d.]+/g).map(Number);
        const scale = colour.startsWith('color') ? 255 : 1;
        return [...numbers.slice(0, 3).map((value) => value * scale), numbers[3] ?? 1];
    }

    function luminance(colour) {
        const [red, green, blue] = colour.slice(0, 3).map((value) => {
            const part = value / 255;
            return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    }

    function groundOf(element) {
        for (let at = element; at !== null; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour[3] === 1) {
                return colour;
            }
        }
        return [255, 255, 255, 1];
    }

    function isShown(element) {
        return element.checkVisibility() && element.closest('.for-readers') === null;
    }

    // Texts that are too pale: "text: ratio".
    function paleTexts() {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const pale = new Set();
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            const text = walker.currentNode.textContent.trim();
            if (text === '' || !isShown(element)) {
                continue;
            }
            const colours = [parse(getComputedStyle(element).color), groundOf(element)];
            const [a, b] = colours.map(luminance);
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < CONTRAST_MIN) {
                pale.add(`${text}: ${ratio.toFixed(2)}`);
            }
        }
        return [...pale];
    }

    function namelessControls() {
        return [...document.querySelectorAll('button, select, input, [tabindex]')]
            .filter((one) => (one.getAttribute('aria-label') ?? '') === ''
                && one.getAttribute('aria-labelledby') === null
                && (one.labels?.length ?? 0) === 0
                && (one.nodeName !== 'BUTTON' || one.textContent.trim() === ''))
            .map((one) => one.outerHTML);
    }

    // Elements that reach over the right edge of the page.
    function wideElements() {
        const root = document.documentElement;
        return root.scrollWidth <= root.clientWidth ? []
            : [...document.body.querySelectorAll('*')]
                .filter((one) => one.getBoundingClientRect().right > root.clientWidth)
                .map((one) => one.outerHTML.slice(0, 120));
    }

    // Layout shifts that no input explains: their places, and the sum of their scores.
    const jumps = [];
    let sum = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries().filter((one) => !one.hadRecentInput)) {
            sum += entry.value;
            jumps.push(`${entry.value.toFixed(4)} at ${Math.round(entry.startTime)} ms: `
                + entry.sources.map((one) => one.node?.className || one.node?.nodeName).join(', '));
        }
    }).observe({type: 'layout-shift', buffered: true});

    window.pageTest = {paleTexts, namelessControls, wideElements, jumps, jumped: () => sum};
})();
