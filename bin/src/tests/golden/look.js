// Writes what is wrong with the layout of a page into its first element, where `browser.rs` reads it.
addEventListener('load', () => {
    const faults = [], root = document.documentElement, all = selector => [...document.querySelectorAll(selector)];
    const say = (...words) => faults.push(words.join(' '));
    const of = element => element.textContent.trim().slice(0, 40);
    if (innerWidth !== WIDTH) say('the window has', innerWidth);

    // Nothing scrolls sideways but wide tables of chapters, within themselves.
    if (root.scrollWidth > innerWidth) say('the page scrolls to', root.scrollWidth);
    for (const part of all('nav, figure, .top .scroll')) {
        if (part.scrollWidth > part.clientWidth + 1) say(part.className || part.tagName, 'scrolls to', part.scrollWidth);
    }

    // The first screen.
    for (const [selector, most] of FOLD) {
        const part = document.querySelector(selector);
        const bottom = part && part.getBoundingClientRect().bottom;
        if (!part || bottom > most) say(selector, 'ends at', bottom, 'and not above', most);
    }

    // The relative luminance of a colour, and the contrast of two (WCAG 2.1).
    const light = colour => colour.match(/[\d.]+/g).slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const legible = (element, colour, ground) => {
        const found = contrast(light(colour), light(ground));
        if (found < 4.5) say('contrast', found.toFixed(1), colour, 'on', ground, of(element));
    };
    const ground = element => {
        const own = element ? getComputedStyle(element).backgroundColor : SCHEME;
        return own === 'rgba(0, 0, 0, 0)' ? ground(element.parentElement) : own;
    };
    const dark = light(ground(document.body)) < 0.1;
    if (dark !== (SCHEME === 'dark')) say('the page is', ground(document.body));
    for (const element of all('body *:not(svg *)')) {
        const text = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (text) legible(element, getComputedStyle(element).color, ground(element));
    }

    for (const picture of all('svg.latency-bench')) {
        const frame = picture.getBoundingClientRect(), wide = picture.viewBox.baseVal.width;
        const scale = frame.width / wide, page = getComputedStyle(picture.querySelector('.page')).fill;
        // Cells of many columns are small.
        const small = 12 * scale < 7 && !picture.querySelector('g rect');
        if (small) say('letters of', 12 * scale, 'pixels in', of(picture));
        const placed = [];
        for (const text of all('text').filter(text => picture.contains(text) && of(text))) {
            const cell = text.previousElementSibling, style = getComputedStyle(text);
            const shade = cell && cell.tagName === 'rect' && text.matches('g text') ? getComputedStyle(cell).fill : 'none';
            legible(text, style.fill, shade === 'none' ? page : shade);
            // A line has room above and below its letters.
            const box = text.getBoundingClientRect(), turned = text.hasAttribute('transform');
            const [x, y] = turned ? [box.width * 0.22, 0] : [0, box.height * 0.22];
            const [left, right, top, bottom] = [box.left + x, box.right - x, box.top + y, box.bottom - y];
            const edge = 2 * scale;
            if (left < frame.left + edge || right > frame.right - edge || top < frame.top || bottom > frame.bottom) {
                say('cut', of(text), 'in', of(picture));
            }
            for (const other of placed) {
                const across = Math.min(right, other.right) - Math.max(left, other.left);
                if (Math.min(across, Math.min(bottom, other.bottom) - Math.max(top, other.top)) > scale) {
                    say(of(text), 'overlaps', of(other.text), 'in', of(picture));
                }
            }
            placed.push({ text, left, right, top, bottom });
        }
    }
    root.setAttribute('data-faults', faults.join('\n'));
});
