// SPDX-License-Identifier: Apache-2.0
// The points of result files by device and place, and their plots.

// ---- points

// The fields that identify the place of a row.
const PLACE = ['workload', 'variant', 'keys', 'key', 'dist', 'tune', 'value_bytes', 'count', 'operations', 'batch',
    'hit_percent', 'width', 'growth', 'update_percent', 'erase_percent', 'most_fills', 'stale_percent', 'load_percent',
    'group', 'raise_percent', 'chunk', 'first_calls', 'fixed_depth', 'level_tables', 'key_bytes', 'byte_values',
    'partial_bytes', 'page_keys', 'nibble_bits', 'contiguous', 'no_prefix'];
const placeOf = row => PLACE.map(name => row[name] ?? (name === 'tune' ? '' : '~')).join(' ');

function copyRate(device) {
    const rate = number(device.limits?.[0], 'copy_bytes_per_s');
    return isNaN(rate) ? number(device.copy, 'bytes_per_s') : rate; // Older files have the latter.
}

// A device of two platforms counts twice, because a CPU may have two drivers.
function deviceOf(report, json) {
    let device = report.devices.find(one => one.json.name === json.name && one.json.platform === json.platform);
    if (!device)
        report.devices.push(device = { number: report.devices.length, points: 0, copy: NaN });
    device.json = json;
    device.copy = isNaN(copyRate(json)) ? device.copy : copyRate(json);
    return device;
}

// The entry of the newest file with the middle rate. Entries are in order of files and rates.
function middle(entries) {
    const newest = entries.filter(entry => entry.file === entries.at(-1).file);
    return newest[(newest.length - 1) >> 1];
}

const byDate = (a, b) => (text(a, 'date') < text(b, 'date') ? -1 : text(a, 'date') > text(b, 'date') ? 1 : 0);

// A point is the row of its place in the newest file, with `before`, the one in the file before it.
function gather(unsorted) {
    const files = unsorted.map(file => ({ ...file, rows: file.rows || [] })).sort(byDate);
    const report = { files, devices: [], points: [], rows: files.flatMap(file => file.rows) };
    const places = new Map();
    for (const [order, file] of files.entries()) {
        const devices = file.devices.map(json => deviceOf(report, json));
        for (const row of file.rows) {
            const device = devices[row.device];
            if (row.check !== 'ok' || !(row.rate > 0) || !device)
                continue;
            const place = `${String(device.number).padStart(3)} ${placeOf(row)}`;
            if (!places.has(place))
                places.set(place, []);
            places.get(place).push({ row, device, file, order, rate: row.rate });
        }
    }
    for (const place of [...places.keys()].sort()) {
        const entries = places.get(place).sort((a, b) => a.order - b.order || a.rate - b.rate);
        const point = middle(entries), older = entries.filter(entry => entry.file !== point.file);
        report.points.push({ ...point, before: older.length ? middle(older) : null });
        point.device.points++;
    }
    return report;
}

// The minimum of seconds for the bytes of a row at the limits of its device, and the limit.
function leastSeconds({ row, device }) {
    const limits = device.json.limits?.[0], time = (bytes, rate) => (bytes > 0 ? bytes / rate : 0);
    const to = number(row, 'bytes_to_device'), from = number(row, 'bytes_from_device'), host = to + from >= 0;
    const seconds = host
        ? time(to, number(limits, 'to_device_bytes_per_s')) + time(from, number(limits, 'from_device_bytes_per_s'))
        : number(row, 'bytes_counted') / device.copy;
    const known = seconds > 0 && isFinite(seconds);
    return { seconds: known ? seconds : NaN, limit: host ? 'to the device and back' : 'copies' };
}

const peerOf = row => (['WRONG', 'failed'].includes(row.peer?.check) ? null : row.peer);
const isUniform = row => row.dist === 'uniform' || row.workload === 'fillseq';

function label(row) {
    const variant = row.variant ? ` ${row.variant}` : '', dist = isUniform(row) ? '' : ` ${text(row, 'dist')}`;
    return `${text(row, 'workload')}${variant} ${text(row, 'key')}+${row.value_bytes}${dist}`;
}

// ---- kinds of plots

function ratePoint({ row, rate }, x) {
    const wall = row.wall_s;
    return { x, y: rate, low: row.operations / number(wall, 'p90'), high: row.operations / number(wall, 'p10') };
}

function timePoint({ row: { wall_s: wall } }, x) {
    return { x, y: number(wall, 'median'), low: number(wall, 'p10'), high: number(wall, 'p90') };
}

function bytesPoint({ row: { statistics: held } }, x) {
    const parts = ['data', 'index', 'marks', 'spare'].map(part => number(held, `bytes_${part}`));
    return { x, y: parts.reduce((sum, part) => sum + part) / held.elements };
}

const isCall = row => row.variant && row.count > 0 && (row.most_fills >= 0 || row.operations === row.batch);
const isFill = row => row.statistics?.elements > 0 && !(row.update_percent >= 0) && row.workload.startsWith('fill');

// A kind of plots has an `axis`, a field of rows, and selects rows. The title has `of` before the number of elements,
// the sentence has `at` after a place on the axis. The points of a plot have one number of elements (oneCount), one
// number of batches for all elements (oneSplit), and uniform keys (oneDist).
const RATES = { y: 'operations a second', unit: 'rate', of: '', at: '', point: ratePoint, takes: () => true };
const SIZE = { ...RATES, axis: 'count', x: 'elements', oneDist: true, oneSplit: true, limit: true };
const BATCH = {
    ...RATES, axis: 'batch', x: 'elements of a batch', of: ' into ', at: ' a batch', oneCount: true, oneDist: true,
    crosses: true,
};
const SHARE = {
    ...RATES, axis: 'update_percent', x: 'updates among the operations, percent', of: ' in ', at: ' % updates',
    oneCount: true, xLinear: true, yLinear: true,
};
const FILLS = {
    ...RATES, axis: 'count', x: 'batches stored before', of: ' in ', at: ' batches', oneCount: true, oneDist: true,
    takes: row => row.fills?.length > 2,
};
const CALL = {
    axis: 'operations', x: 'operations of a call', y: 'time of a call', unit: 'seconds', of: ' in ', at: ' a call',
    oneCount: true, oneDist: true, point: timePoint, takes: isCall,
};
const MEMORY = {
    axis: 'count', x: 'elements', y: 'bytes an element, on the device', unit: 'plain', of: ': memory', at: '',
    oneDist: true, yLinear: true, point: bytesPoint, takes: isFill,
};

const ONE_BATCH = ['insertrandom', 'hostinsert', 'concurrentinsert', 'concurrentmix', 'concurrentpoints'];
const RANGES = ['countrandom', 'rangerandom', 'pagerandom', 'sumrandom', 'seekwithin'];
const LARGE_CALL = 65536; // Calls of fewer queries are about the time of a call, not the rate.
const isQuery = row => row.most_fills >= 0 || !!row.fills; // Older files have fills alone.

// The common fields of the points of a plot. A member is 0 if it varies along the axis or does not apply.
function groupOf({ device, row }, kind) {
    const oneBatch = ONE_BATCH.includes(row.workload);
    const updates = row.batch > 0 && !isQuery(row) && !oneBatch && row.workload !== 'queue';
    const batch = oneBatch && kind !== BATCH ? row.batch || 0 : 0;
    const queries = !oneBatch && isQuery(row) && row.operations < LARGE_CALL ? row.operations : 0;
    return {
        device: device.number,
        workload: row.workload,
        key: row.key,
        value_bytes: row.value_bytes,
        count: kind.oneCount ? row.count : 0,
        calls: kind === CALL ? 0 : batch || queries,
        batches: kind.oneSplit && updates ? Math.ceil(row.count / row.batch) : 0,
        fills: kind === FILLS || kind === CALL ? 0 : row.most_fills || 0,
        width: RANGES.includes(row.workload) && row.width > 0 ? row.width : 0,
    };
}

function titleOf(report, group, kind) {
    const device = text(report.devices[group.device].json, 'name');
    return `${group.workload} ${group.key}+${group.value_bytes}${kind.of}` +
        (kind.oneCount ? countText(group.count) : '') +
        (group.width ? `, ${group.width} elements each` : '') +
        (group.calls ? `, ${countText(group.calls)} at a time` : '') +
        (group.batches > 1 ? `, in ${group.batches} batches` : '') +
        (group.fills > 1 ? `, mean of ${group.fills} fills` : '') + `, ${device}`;
}

function takes(kind, row) {
    const x = number(row, kind.axis);
    return (!kind.oneDist || isUniform(row)) && kind.takes(row) && (kind.xLinear ? x >= 0 : x > 0);
}

// ---- lines

function add(plot, name, point, limit = false) {
    let line = plot.lines.find(other => other.name === name);
    if (!line && plot.lines.length === LINES.length) {
        plot.full = true;
        return;
    }
    if (!line)
        plot.lines.push(line = { name, limit, points: [] });
    line.points.push(point);
    line.points.sort((a, b) => a.x - b.x);
}

const at = (line, x) => line?.points.find(point => point.x === x)?.y ?? NaN;
const measured = plot => plot.lines.filter(line => !line.limit);

function addOnce(plot, name, point, limit) {
    if (point.y > 0 && isNaN(at(plot.lines.find(line => line.name === name), point.x)))
        add(plot, name, point, limit);
}

const PARAMETERS = { growth: 'growth', load_percent: 'load', raise_percent: 'raise', chunk: 'chunk', group: 'group' };

// Parameters that are not at their defaults: ", load 95".
function parameters(row) {
    const set = Object.entries(PARAMETERS).filter(([field]) => row[field] > 0);
    return set.map(([field, name]) => `, ${name} ${row[field]}`).join('') + (row.tune ? `, ${row.tune}` : '') +
        (row.fixed_depth ? ', fixed depth' : '') + (row.level_tables ? ', level tables' : '') + (row.first_calls ? ', first calls' : '');
}

function lineName(row, kind) {
    const name = (row.variant || 'Ordo') + parameters(row);
    const there = row.hit_percent < 100 && ['readrandom', 'hostread', 'findstrings'].includes(row.workload);
    return kind === MEMORY ? name : name +
        (kind !== SHARE && row.update_percent >= 0 ? `, ${row.update_percent} % updates` : '') +
        (there ? `, ${row.hit_percent} % there` : '') + (!isUniform(row) && row.dist ? `, ${row.dist} keys` : '');
}

// Adds the rate of the peer at a point, and of plain host code if the device is the host's processor.
function addPeers(plot, { row, device }, x) {
    const peer = peerOf(row), hosts = (device.json.cpu && row.host_rates) || {};
    if (peer?.rate > 0)
        add(plot, `${peer.name}${row.variant ? `: ${row.variant}` : ''}`, { x, y: peer.rate });
    for (const [host, rate] of Object.entries(hosts))
        addOnce(plot, `the host's ${host}`, { x, y: rate });
}

// Shows the first point of a place if other fields differ.
function addPoint(plot, kind, point) {
    const { row } = point, x = row[kind.axis], here = kind.point(point, x), name = lineName(row, kind);
    const { seconds, limit } = leastSeconds(point);
    if (!(here.y > 0) || !isNaN(at(plot.lines.find(line => line.name === name), x)))
        return;
    add(plot, name, here);
    if (kind.unit === 'rate' && !kind.xLinear)
        addPeers(plot, point, x);
    if (kind.limit)
        addOnce(plot, `limit: ${limit}`, { x, y: row.operations / seconds }, true);
}

// Adds a line of queries after each number of batches.
function addFills(plot, kind, { row }) {
    for (const { batches, rate } of row.fills.filter(fill => fill.batches > 0))
        addOnce(plot, lineName(row, kind), { x: batches, y: rate });
}

// ---- sentences

// "At 2^24: lsm leads with 5.1 G a second, 2.3 times sorted_array." At the largest place that two lines have.
function whoLeads(plot, kind) {
    const { after, less } = UNITS[plot.unit], lines = measured(plot);
    const places = lines.flatMap(line => line.points.map(point => point.x));
    const shared = places.filter(x => lines.filter(line => !isNaN(at(line, x))).length > 1);
    const x = Math.max(...(shared.length ? shared : places)), where = `At ${xText(plot, x)}${kind.at}: `;
    const order = less ? (a, b) => at(a, x) - at(b, x) : (a, b) => at(b, x) - at(a, x);
    const [first, second] = lines.filter(line => !isNaN(at(line, x))).sort(order);
    const best = `${figureText(plot, at(first, x))}${after}`, ratio = second && at(second, x) / at(first, x);
    if (!second)
        return `${where}${best}.`;
    if (Math.max(ratio, 1 / ratio) < 1.05)
        return `${where}${first.name} and ${second.name} are alike, ${best}.`;
    if (less)
        return `${where}${first.name} takes least, ${best}; ${second.name} takes ${significant(ratio, 2)} times as ` +
            'much.';
    return `${where}${first.name} leads with ${best}, ${significant(1 / ratio, 2)} times ${second.name}.`;
}

// Variants of one workload with different inputs do not compete. Each is shown at its largest place.
function each(plot, kind) {
    const words = measured(plot).map(line => {
        const { x, y } = line.points.at(-1);
        return `${line.name} ${figureText(plot, y)} at ${countText(x)}${kind.at}`;
    });
    return `${words.join(', ')}, a second.`;
}

// The places between which the leader of two lines changes.
function crossoversOf(a, b) {
    const leads = a.points.map(({ x, y }) => ({ x, lead: Math.log(y / at(b, x)) })).filter(({ lead }) => !isNaN(lead));
    const ahead = ({ lead }, words) => (lead > 0 ? a.name + words + b.name : b.name + words + a.name);
    const words = leads.slice(1).map((now, i) => (leads[i].lead * now.lead < 0
        ? ` Between ${countText(leads[i].x)} and ${countText(now.x)} ${ahead(now, ' comes to lead over ')}.` : ''));
    return words.join('') || (leads.length ? ` ${ahead(leads.at(-1), ' leads over ')} throughout.` : '');
}

// One sentence for each two lines, while space is left.
function crossovers(plot) {
    const words = plot.lines.flatMap((a, i) => plot.lines.slice(i + 1).map(b => crossoversOf(a, b)));
    return words.filter((_, i) => words.slice(0, i + 1).join('').length < 400).join('');
}

function sentence(plot, kind, row) {
    const variants = isNaN(number(row, 'batch')) && row.variant && measured(plot).length > 1 && kind !== FILLS;
    return (variants ? each(plot, kind) : whoLeads(plot, kind)) + (kind.crosses ? crossovers(plot) : '') +
        (plot.full ? ' Others have no room here: all rows are below.' : '');
}

// ---- plots

function plotOf(report, kind, group, points) {
    const { x, y, unit, xLinear, yLinear } = kind;
    const plot = { title: titleOf(report, group, kind), x, y, unit, xLinear, yLinear, lines: [] };
    // Defaults come first, in case of too little space.
    const inOrder = [...points.filter(({ row }) => !parameters(row)), ...points.filter(({ row }) => parameters(row))];
    for (const point of kind === FILLS ? points : inOrder)
        (kind === FILLS ? addFills : addPoint)(plot, kind, point);
    return plot;
}

function plotsOf(report, kind) {
    const groups = new Map(), plots = [];
    for (const point of report.points.filter(({ row }) => takes(kind, row))) {
        const name = JSON.stringify(groupOf(point, kind));
        groups.set(name, [...(groups.get(name) || []), point]);
    }
    for (const [name, points] of groups) {
        const plot = plotOf(report, kind, JSON.parse(name), points);
        if (Math.max(0, ...measured(plot).map(line => line.points.length)) < (kind === FILLS ? 3 : 2))
            continue;
        plot.sentence = sentence(plot, kind, points[0].row);
        plots.push(plot);
    }
    return plots;
}

const AXES = ['n', 'batch', 'r', 'key_range', 'width', 'levels']; // of experiments

function plotOfExperiment(paper, experiment) {
    const plot = {
        title: `${text(paper, 'id')}: ${text(experiment, 'title')}`, x: '', y: text(experiment, 'unit'), unit: 'plain',
        sentence: `${text(experiment, 'where')}; sizes here are those of the paper over ${experiment.scale}.`,
        lines: [],
    };
    for (const row of experiment.rows || []) {
        const axis = AXES.find(name => row[name] > 0);
        const cells = Object.entries(row).filter(([name]) => ![axis, 'paper', 'here'].includes(name));
        const words = cells.map(([field, value]) => (typeof value === 'number' ? `${value} ${field}` : value));
        const name = words.join(', ');
        plot.x = axis || plot.x;
        for (const whose of ['paper', 'here'])
            if (axis && row[whose] > 0)
                add(plot, `${name}: ${whose}`, { x: row[axis], y: row[whose] });
    }
    return plot;
}

// Plots with a line of the paper and a measured line, each of at least two points.
function plotsOfPapers(report) {
    const papers = report.files.flatMap(file => file.papers || []);
    const plots = papers.flatMap(paper => (paper.experiments || []).map(one => plotOfExperiment(paper, one)));
    return plots.filter(plot => ['paper', 'here'].every(whose =>
        plot.lines.some(line => line.points.length > 1 && line.name.endsWith(`: ${whose}`))));
}

const SECTIONS = [
    ['Rates over size', 'Whiskers go from the 10th to the 90th percentile of repetitions. Points of one plot are of ' +
        'calls of one kind: as many batches, or as many queries at a time.', report => plotsOf(report, SIZE)],
    ['Updates over the batch', 'Larger batches cost less an element; structures come to lead at different ones.',
        report => plotsOf(report, BATCH)],
    ['Concurrent operations, over the share of updates', 'Queries are the rest.', report => plotsOf(report, SHARE)],
    ['Queries, over how often was stored before',
        'Queries look into each run of an LSM, and batches make and merge runs.',
        report => plotsOf(report, FILLS)],
    ['The time of a call', "By the host's clock until the device is idle, calls one after another.",
        report => plotsOf(report, CALL)],
    ['Memory', 'Device memory that a dictionary holds when it is filled: keys, values, index and spare.',
        report => plotsOf(report, MEMORY)],
    ["Papers' figures and figures here", 'The same axes; the devices differ by years, so the shape counts.',
        plotsOfPapers],
];
const allPlots = report => SECTIONS.flatMap(([, , plots]) => plots(report));
