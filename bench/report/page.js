// SPDX-License-Identifier: Apache-2.0
// The page of ordo-bench report: `page(files)` is its HTML. Files are objects as --json writes them, each with its
// `name`.

const td = (words, kind) => `<td${kind ? ` class="${kind}"` : ''}>${escaped(words)}</td>`;
const note = words => (words ? `<p class="q">${words}</p>\n` : '');
const heading = (title, words) => `<h2>${title}</h2>\n${note(words)}`;
const details = (summary, body) => `<details><summary>${escaped(summary)}</summary>${body}</details>\n`;
const tr = row => (row.startsWith('<tr') ? row : `<tr>${row}</tr>`);

function table(heads, rows, kind = '') {
    const titles = heads.map(head => `<th>${escaped(head)}</th>`);
    return `<div class="wide"><table${kind}>\n<tr>${titles.join('')}</tr>\n` +
        `${rows.map(tr).join('\n')}\n</table></div>\n`;
}

const deviceName = device => text(device.json, 'name');
const pointCells = ({ row, device }) => td(label(row)) + td(countText(row.count), 'n') + td(deviceName(device));
const grade = (ratio, good) => (ratio < 0.8 ? 'n bad' : ratio < good ? 'n mid' : 'n good');

const HOSTS = ['flat_hash_map', 'robin_map', 'unordered_flat_map', 'btree', 'sort', 'radix', 'merge', 'loop', 'binary', 's-tree', 'table',
    'heap'];

// The rate of a point divided by the rate of its peer, or else of plain code on the host.
function peerRatio({ row, rate }) {
    const peer = peerOf(row), host = HOSTS.find(name => row.host_rates?.[name] > 0);
    if (peer?.rate > 0)
        return { ratio: rate / peer.rate, name: text(peer, 'name') };
    return host ? { ratio: rate / row.host_rates[host], name: host } : null;
}

function putAlarms(report) {
    const peers = [...report.rows.map(row => row.peer), ...report.files.flatMap(file => file.peers || [])];
    const wrong = [...report.rows, ...peers].filter(row => row?.check === 'WRONG').length;
    const failed = report.rows.filter(row => row.check === 'failed').length;
    return (wrong ? `<p class="alarm">WRONG: ${wrong} rows gave a wrong result.</p>\n` : '') +
        (failed ? `<p class="alarm">${failed} rows failed.</p>\n` : '');
}

function putPeersSentence(report) {
    const found = report.points.map(point => ({ ...point, ...peerRatio(point) })).filter(point => point.ratio);
    if (!found.length)
        return '<p>The files have no peers.</p>\n';
    const worst = found.reduce((least, point) => (point.ratio < least.ratio ? point : least));
    const behind = found.filter(point => point.ratio < 1).length;
    return `<p>Of ${found.length} points with a peer (another library on the device, or plain code on one thread of ` +
        `the host) the peer is ahead in ${behind}. Farthest behind: ${significant(worst.ratio, 2)} of ` +
        `${escaped(worst.name)} in ${escaped(label(worst.row))} of ${countText(worst.row.count)} on ` +
        `${escaped(deviceName(worst.device))}.</p>\n`;
}

function putDevices(report) {
    const rows = report.devices.map(device => {
        const copy = isNaN(device.copy) ? 'not measured' : digits(device.copy * 1e-9);
        return td(deviceName(device)) + td(text(device.json, 'platform')) + td(text(device.json, 'driver')) +
            td(copy, 'n') + td(device.points, 'n');
    });
    return heading('Devices') + table(['device', 'platform', 'driver', 'copies, GB/s', 'points'], rows);
}

const TASKS = [
    ['sort', 'sort', '', 4],
    ['merge', 'merge', '', 4],
    ['prefix sums', 'scan', '', 0],
    ['lower bound, by an index', 'search', 'random+index', 0],
    ['find in an array, by an index', 'lookup', 'random+index', 4],
    ['fill an LSM', 'fillrandom', 'lsm', 4],
    ['fill a B-link tree', 'fillrandom', 'blink', 4],
    ['find by an LSM', 'readrandom', 'lsm', 4],
    ['find by a B-link tree', 'readrandom', 'blink', 4],
    ['ranges by an LSM', 'rangerandom', 'lsm', 4],
    ['fill a B-link tree concurrently', 'concurrentfill', 'blink', 4],
];

// The fastest point of the largest size.
function taskCell(report, device, [, workload, variant, bytes]) {
    const isOf = row => row.workload === workload && text(row, 'variant') === variant && row.key === 'u32' &&
        row.dist === 'uniform' && row.value_bytes === bytes;
    const points = report.points.filter(point => point.device === device && isOf(point.row));
    const [best] = points.sort((a, b) => b.row.count - a.row.count || b.rate - a.rate);
    if (!best)
        return td('not measured', 'q');
    const share = device.copy > 0 ? `; ${rateText(best.rate / (device.copy * 1e-9))} per GB/s` : '';
    return `<td>${rateText(best.rate)} <span class="q">at ${countText(best.row.count)}${share}</span></td>`;
}

function putTasks(report) {
    const rows = TASKS.map(task => td(task[0]) + report.devices.map(device => taskCell(report, device, task)).join(''));
    return heading('Side by side', 'Operations a second, u32 keys with u32 values where there are any, uniformly ' +
        'drawn, at the largest size measured; and over the rate at which the device copies its memory.') +
        table(['task', ...report.devices.map(deviceName)], rows);
}

// ---- peers

function putPeers(report) {
    const rows = report.points.filter(peerRatio).map(point => {
        const { ratio, name } = peerRatio(point);
        return pointCells(point) + td(name) + td(ratio.toFixed(2), grade(ratio, 1));
    });
    return heading('Against peers', 'btree is absl::btree_map, flat_hash_map is also of Abseil, robin_map is ' +
        'tsl::robin_map, unordered_flat_map is of Boost, sort is std::sort of strings; radix, merge, loop and binary are plain host code; all on the machine ' +
        'that ran the tool.') +
        details('all points with a peer', table(['point', 'size', 'device', 'peer', "rate over the peer's"], rows));
}

const SAME_PLACE = ['workload', 'key', 'dist', 'device', 'value_bytes', 'count', 'operations', 'batch'];

function hostPeerRow(file, peer) {
    const fields = peer.variant ? ['variant', 'keys', ...SAME_PLACE] : SAME_PLACE; // Shapes of strings differ.
    const same = row => row.check === 'ok' && fields.every(name => (row[name] ?? null) === (peer[name] ?? null));
    const best = file.rows.filter(same).sort((a, b) => b.rate - a.rate)[0];
    const ratio = number(best, 'rate') / peer.rate;
    const rate = peer.check === 'ok' ? rateText(peer.rate) : text(peer, 'check');
    return td(text(peer, 'workload')) + td(countText(peer.count), 'n') + td(text(peer, 'name')) +
        td(text(peer, 'version')) + td(text(peer, 'call')) + td(peer.threads, 'n') +
        td(rate, peer.check === 'ok' ? 'n' : 'n bad') + td(text(best, 'variant')) +
        td(rateText(number(best, 'rate')), 'n') +
        td(isNaN(ratio) ? '-' : `${digits(ratio)}x`, ratio < 1 ? 'n bad' : 'n');
}

// The libraries in files of ordo-bench compare, with the fastest row of the same place.
function putHostPeers(report) {
    const heads = ['workload', 'size', 'peer', 'version', 'its call', 'threads', 'its rate', 'ours', 'rate',
        'ours over it'];
    const rows = report.files.flatMap(file => (file.peers || []).map(peer => hostPeerRow(file, peer)));
    return rows.length ? heading("Against the host's libraries", 'On the processors of the same machine, by ' +
        '<code>ordo-bench compare</code>; ours is the fastest on the device.') + table(heads, rows) : '';
}

// ---- plots

function figures(plot) {
    const whisker = point => (point.low > 0 ? `${figureText(plot, point.low)} to ${figureText(plot, point.high)}` : '');
    const cells = point => td(xText(plot, point.x)) + td(figureText(plot, point.y)) + td(whisker(point));
    const name = line => `<td rowspan="${line.points.length}">${escaped(line.name)}</td>`;
    const rows = plot.lines.flatMap(line => line.points.map((point, i) => (i ? '' : name(line)) + cells(point)));
    return details('figures', table(['line', plot.x, plot.y, 'p10 to p90'], rows));
}

function putPlots(report) {
    let id = 0;
    const put = plot => `<div class="plot"><h3>${escaped(plot.title)}</h3>\n${draw(plot, id++)}<p>` +
        `${escaped(plot.sentence)} <a class="save" href="#">Save as SVG</a></p>${figures(plot)}</div>\n`;
    return SECTIONS.map(([title, words, plotsOfSection]) => {
        const plots = plotsOfSection(report).map(put);
        return plots.length ? `${heading(title, words)}<div class="plots">\n${plots.join('')}</div>\n`
            : heading(title, 'Not measured at two places or more.');
    }).join('');
}

// The share of a point in its limit. Arrays: the copy rate. Host memory: the rates to the device and back. Finds of
// 4-byte keys: random reads of 32 bytes.
function shareOfLimit(point) {
    const { row, device, rate } = point, { seconds, limit } = leastSeconds(point);
    const reads = number(device.json.limits?.[0], 'gathers_32_per_s');
    const find = ['readrandom', 'lookup'].includes(row.workload) && row.dist === 'uniform' && row.key === 'u32';
    if (seconds > 0)
        return { share: rate * seconds / row.operations, limit };
    return find && reads > 0 ? { share: rate / reads, limit: 'reads of 32 bytes at random' } : null;
}

function putLimits(report) {
    const sizes = {}, name = ({ row, device }) => `${device.number} ${label(row)}`;
    for (const point of report.points)
        sizes[name(point)] = Math.max(sizes[name(point)] || 0, point.row.count);
    const largest = report.points.filter(point => shareOfLimit(point) && point.row.count === sizes[name(point)]);
    const rows = largest.map(point => {
        const { share, limit } = shareOfLimit(point);
        return pointCells(point) + td(limit) + td(percentText(share), 'n');
    });
    if (!rows.length)
        return heading('Against the limits', 'No file has limits of its device.');
    return heading('Against the limits', 'The bytes that must move at least, at the rate at which the device copies ' +
        'its memory, are 100 %; from and to host memory at the rates to the device and back, one after the other; of ' +
        'searches a read of 32 bytes at a random place for each. What a cache holds can be above, and so can a ' +
        "CPU that works in the host's arrays.") + table(['point', 'size', 'device', 'limit', 'share'], rows);
}

const revision = file => text(file, 'revision') || 'not recorded';

function putChanges(report) {
    const changed = report.points.filter(({ file, before }) => before && revision(file) !== revision(before.file));
    const rows = changed.map(point => {
        const { rate, file, before } = point, ratio = rate / before.rate;
        return pointCells(point) + td(rateText(before.rate), 'n') + td(rateText(rate), 'n') +
            td(`${revision(before.file)}, ${revision(file)}`, 'keep') + td(ratio.toFixed(2), grade(ratio, 0.95));
    });
    if (!rows.length)
        return heading('Old against new', 'No point is in files of two revisions.');
    return heading('Old against new', 'Points that files of two revisions have: the newest and the previous one. ' +
        'Machines and days differ too: <code>ordo-bench --against</code> compares two builds in one.') +
        details('all of them', table(['point', 'size', 'device', 'before', 'now', 'revisions', 'new over old'], rows));
}

// ---- the papers

// A number, a word, or a range that may be open.
function figureCell(figure) {
    const [low, high] = Array.isArray(figure) ? figure.map(x => x != null && significant(x, 4)) : [];
    if (typeof figure === 'number')
        return td(significant(figure, 4), 'n');
    if (typeof figure === 'string')
        return td(figure, 'n');
    return td(low && high ? `${low} to ${high}` : low ? `${low} at least` : high ? `${high} at most` : '-', 'n');
}

function putExperiment(experiment) {
    const { rows } = experiment;
    const where = `${text(experiment, 'where')}; sizes over ${experiment.scale}`;
    return rows?.length ? details(`${text(experiment, 'title')}, ${text(experiment, 'unit')} (${where})`,
        table(Object.keys(rows[0]), rows.map(row => Object.values(row).map(figureCell).join('')))) : '';
}

const VERDICTS = { holds: 'good', 'by less': 'mid', 'does not': 'bad' };

function putPaper(file, paper) {
    const claims = paper.claims || [], having = verdict => claims.filter(claim => claim.verdict === verdict).length;
    const rows = claims.map(claim => td(text(claim, 'says')) + td(text(claim, 'where')) +
        td(text(claim, 'verdict'), VERDICTS[claim.verdict] || 'q') + figureCell(claim.paper) + figureCell(claim.here) +
        td(text(claim, 'why')));
    return `<h3>${escaped(text(paper, 'paper'))}</h3>\n<p>Published of ${escaped(text(paper, 'measured_on'))}; here: ` +
        `${escaped(text(file.devices[paper.device], 'name'))}, ` +
        `${paper.full ? "the paper's sizes" : 'sizes and batches divided alike'}. Of its claims ${having('holds')} ` +
        `hold, ${having('by less')} by less, ${having('does not')} do not, ${having('cannot be asked')} cannot be ` +
        'asked. A claim that does not hold is a finding, not a failure.</p>\n' +
        table(['claim', 'where', 'verdict', 'paper', 'here', 'why'], rows) +
        (paper.experiments || []).map(putExperiment).join('');
}

function putPapers(report) {
    const papers = report.files.flatMap(file => (file.papers || []).map(paper => putPaper(file, paper)));
    const none = papers.length ? '' : 'No file is of <code>ordo-bench paper</code>.';
    return heading('The papers, measured again', none) + papers.join('');
}

// ---- method

function fileRow(file) {
    const build = file.build ? `${text(file.build, 'compiler')}, ${text(file.build, 'type')}` : 'not recorded';
    const disturbed = (file.processes || []).map(process => text(process, 'disturbed'));
    return td(file.name, 'keep') + td(text(file, 'date')) +
        td(`${revision(file)}${file.clean === false ? ' (changed)' : ''}`, 'keep') + td(build) +
        td(text(file.host, 'processor')) + td(disturbed.join('')) +
        `<td><code>${escaped(['ordo-bench', ...(file.arguments || [])].join(' '))}</code></td>`;
}

function putFiles(report) {
    const heads = ['file', 'date', 'revision', 'compiler, build', 'host', 'disturbed', 'command'];
    const leftOut = report.rows.filter(row => ['skipped', 'too large'].includes(row.check)).length;
    return heading('How it was measured', "Every result was checked. A rate is of the median of repetitions by the " +
        "host's clock; a point that several processes measured shows the one in the middle, one in several files the " +
        'newest.') +
        `<div class="files">${table(heads, report.files.map(fileRow))}</div>\n` +
        `<p>${report.rows.length} rows in all, ${leftOut} of them too large for the device or out of time.</p>\n`;
}

function rowOf(row) {
    const times = ['median', 'p10', 'p90'].map(name => td(secondsText(number(row.wall_s, name))));
    return `<tr${row.check === 'WRONG' ? ' class="bad"' : ''}>${td(label(row))}${td(countText(row.count ?? 0))}` +
        `${td(row.batch > 0 ? countText(row.batch) : '')}${td(rateText(number(row, 'rate')))}${times.join('')}` +
        `${td(text(row, 'check'))}</tr>`;
}

function putRows(report) {
    const heads = ['point', 'count', 'batch', 'rate /s', 'time', 'p10', 'p90', 'check'];
    const rows = file => details(file.name, table(heads, file.rows.map(rowOf), ' class="rows"'));
    return heading('Every row') + report.files.map(rows).join('');
}

const PARTS = [putAlarms, putPeersSentence, putDevices, putTasks, putPeers, putHostPeers, putPlots, putLimits,
    putPapers, putChanges, putFiles, putRows];

function page(files) {
    const report = gather(files);
    return `<style>${DARK}</style>\n<h1>Ordo: what was measured</h1>\n${PARTS.map(part => part(report)).join('')}`;
}

// Saves the plot of the clicked link.
function save(event) {
    if (event.target.className !== 'save')
        return;
    const svg = standalone(event.target.closest('.plot').querySelector('svg').outerHTML.replace(/ xmlns="[^"]*"/, ''));
    const href = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    Object.assign(document.createElement('a'), { download: 'plot.svg', href }).click();
    event.preventDefault();
}

if (typeof document === 'undefined') {
    module.exports = { page, gather, allPlots, draw, standalone, COLOURS, LINES, MARKS };
} else {
    document.body.innerHTML = page(JSON.parse(document.getElementById('files').textContent));
    document.addEventListener('click', save);
}
