// SPDX-License-Identifier: Apache-2.0
// Figures as text, and plots as SVG. The page of ordo-bench report has this file, plots.js and page.js in this order.
'use strict';

const number = (object, name) => (typeof object?.[name] === 'number' ? object[name] : NaN);
const text = (object, name) => (typeof object?.[name] === 'string' ? object[name] : '');
const escaped = words => String(words).replace(/[&<>"]/g, c => `&#${c.charCodeAt()};`);

const tenth = x => Number(x.toFixed(1));
const digits = x => x.toFixed(x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
const significant = (x, n) => String(Number(x.toPrecision(n)));

function scaled(x, units) {
    if (isNaN(x))
        return '-';
    let unit = 0;
    for (; unit + 1 < units.length && x >= 999.5; unit++)
        x /= 1000;
    return `${digits(x)} ${units[unit]}`;
}

const rateText = x => scaled(x, ['', 'k', 'M', 'G', 'T']);
const secondsText = x => scaled(x * 1e9, ['ns', 'us', 'ms', 's']);
const percentText = x => `${(x * 100).toFixed(x < 0.0995 ? 1 : 0)} %`;
const countText = x => (x >= 16 && Number.isInteger(Math.log2(x)) ? `2^${Math.log2(x)}` : String(x));

// The unit of a plot. `less`: the least figure leads.
const UNITS = {
    rate: { text: rateText, after: ' a second' },
    seconds: { text: secondsText, after: '', less: true },
    plain: { text: x => (isNaN(x) ? '-' : significant(x, 3)), after: ' bytes', less: true },
};
const figureText = (plot, y) => UNITS[plot.unit].text(y);
const xText = (plot, x) => (plot.xLinear ? significant(x, 6) : countText(Math.round(x)));

// Colours on a light and on a dark ground have a contrast of 3:1 or more. Dashes and marks tell lines apart without
// them.
const COLOURS = [
    ['#0063a5', '#62b5f5'], ['#c04a00', '#f29a4a'], ['#007a55', '#3cc997'], ['#9a3f80', '#e594ca'],
    ['#7a6200', '#e3c94b'], ['#4d4d4d', '#c4c4c4'], ['#6b4fc9', '#b09cff'], ['#b3001b', '#ff8a96'],
];
const DASHES = ['', '9 3', '3 3', '12 3 3 3', '6 6', '', '9 3', '3 3 9 3', '6 6', '1 4', '9 3', '', '3 3', '9 3'];
const LINES = DASHES.map((dash, i) => ({ colour: COLOURS[i % COLOURS.length][0], dash }));
const GROUND = ['#fff', '#16181c'];
const INK = ['#1a1a1a', '#ececec'];
const GRID = ['#d9d9d9', '#43474e'];

// Drawings have plain attributes, which every SVG program knows. Style rules replace them in programs that know rules.
const DARK_RULES = [GROUND, INK, GRID, ...COLOURS].map(([light, dark]) =>
    `svg [fill="${light}"]{fill:${dark}}svg [stroke="${light}"]{stroke:${dark}}`);
const DARK = `@media screen and (prefers-color-scheme:dark){${DARK_RULES.join('')}}`;

const MARKS = [
    ({ x, y }) => `<circle cx="${x}" cy="${y}" r="4"/>`,
    ({ x, y }) => `<rect x="${tenth(x - 3.5)}" y="${tenth(y - 3.5)}" width="7" height="7"/>`,
    ({ x, y }) => `<path d="M${x} ${tenth(y - 5)}l5 8h-10z"/>`,
    ({ x, y }) => `<path d="M${x} ${tenth(y - 5)}l5 5l-5 5l-5-5z"/>`,
    ({ x, y }) => `<path d="M${tenth(x - 4)} ${tenth(y - 4)}l8 8m0-8l-8 8"/>`,
];

const LEFT = 70, RIGHT = 550, TOP = 20, BOTTOM = 300, WIDTH = 574;
const LEGEND = 366, LEGEND_HEIGHT = 20; // Below the axes each line has a row, with room for a long name.

// An axis has `steps`, the numbers that it names, and `place`, which maps a number to a place between `from` and `to`.
const logScale = (numbers, base, from, to) => {
    const log = x => Math.log(x) / Math.log(base);
    const low = Math.floor(log(Math.min(...numbers)) + 1e-9);
    const high = Math.max(low + 1, Math.ceil(log(Math.max(...numbers)) - 1e-9));
    const steps = Array.from({ length: high - low + 1 }, (_, i) => base ** (low + i));
    return { steps, place: x => tenth(from + ((log(x) - low) / (high - low)) * (to - from)) };
};

// From 0 in at most ten steps of 1, 2 or 5 times a power of ten.
const linearScale = (numbers, from, to) => {
    const most = Math.max(...numbers) || 1, ten = 10 ** Math.floor(Math.log10(most / 10));
    const step = ten * ([1, 2, 5].find(n => n * ten * 10 >= most) || 10);
    const n = Math.ceil(most / step - 1e-9);
    const steps = Array.from({ length: n + 1 }, (_, i) => i * step);
    return { steps, place: x => tenth(from + (x / step / n) * (to - from)) };
};

const word = (x, y, words) => `<text x="${x}" y="${tenth(y)}">${escaped(words)}</text>`;

function drawAxes(plot, x, y) {
    const every = Math.floor((x.steps.length - 1) / 8) + 1, columns = x.steps.filter((_, i) => i % every === 0);
    const rows = y.steps.map(n => `M${LEFT} ${y.place(n)}H${RIGHT}`);
    const lines = columns.map(n => `M${x.place(n)} ${TOP}V${BOTTOM}`);
    const left = y.steps.map(n => word(LEFT - 6, y.place(n) + 4, figureText(plot, n)));
    const below = columns.map(n => word(x.place(n), BOTTOM + 18, xText(plot, n)));
    return `<path stroke="${GRID[0]}" d="${rows.join('')}${lines.join('')}"/>\n` +
        `<g text-anchor="end">${left.join('')}</g>\n` +
        `<g text-anchor="middle">${below.join('')}${word((LEFT + RIGHT) / 2, BOTTOM + 40, plot.x)}</g>\n` +
        `${word(4, 12, plot.y)}\n`;
}

// ---- lines: a plot is { title, sentence, x, y, unit, xLinear, yLinear, lines }

// A line is { name, limit, points }, a point { x, y, low, high }: its whisker goes from low to high.
function drawWhiskers(line, colour, x, y) {
    const whiskers = line.points.filter(point => point.low > 0 && point.high > 0).map(point => {
        const low = Math.min(BOTTOM, y.place(point.low)), high = Math.max(TOP, y.place(point.high));
        return `M${x.place(point.x)} ${low}V${high}`;
    });
    return whiskers.length ? `<path fill="none" stroke="${colour}" d="${whiskers.join('')}"/>` : '';
}

function drawLine(line, i, x, y) {
    const { colour } = LINES[i], dash = line.limit ? '2 5' : LINES[i].dash, legend = LEGEND + LEGEND_HEIGHT * i;
    const places = line.points.map(point => ({ x: x.place(point.x), y: y.place(point.y) }));
    const marks = [...places, { x: LEFT + 14, y: legend - 4 }].map(MARKS[i % MARKS.length]);
    const dashes = dash ? ` stroke-dasharray="${dash}"` : '';
    const stroke = `fill="none" stroke="${colour}" stroke-width="${line.limit ? 1.5 : 2}"${dashes}`;
    return (line.limit ? '' : drawWhiskers(line, colour, x, y)) +
        `<polyline ${stroke} points="${places.map(at => `${at.x},${at.y}`).join(' ')}"/>\n` +
        `<path ${stroke} d="M${LEFT} ${legend - 4}h28"/>${word(LEFT + 36, legend, line.name)}\n` +
        (line.limit ? '' : `<g fill="${GROUND[0]}" stroke="${colour}" stroke-width="2">${marks.join('')}</g>\n`);
}

function draw(plot, id = 0) {
    const points = plot.lines.flatMap(line => line.points);
    const xs = points.map(point => point.x), ys = points.map(point => point.y);
    const x = plot.xLinear ? linearScale(xs, LEFT, RIGHT) : logScale(xs, 2, LEFT, RIGHT);
    const y = plot.yLinear ? linearScale(ys, BOTTOM, TOP) : logScale(ys, 10, BOTTOM, TOP);
    const height = LEGEND + LEGEND_HEIGHT * plot.lines.length - 8;
    return `<svg role="img" viewBox="0 0 ${WIDTH} ${height}" aria-labelledby="t${id} d${id}">\n` +
        `<title id="t${id}">${escaped(plot.title)}</title>\n` +
        `<desc id="d${id}">${escaped(plot.sentence || plot.title)}</desc>\n` +
        `<rect width="100%" height="100%" fill="${GROUND[0]}"/>\n` +
        `<g fill="${INK[0]}" font-family="system-ui,sans-serif" font-size="13">\n` +
        `${drawAxes(plot, x, y)}${plot.lines.map((line, i) => drawLine(line, i, x, y)).join('')}</g>\n</svg>\n`;
}

// A complete SVG file.
const standalone = svg => svg.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace('</title>', `</title><style>${DARK}</style>`);
