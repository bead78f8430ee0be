// SPDX-License-Identifier: Apache-2.0
// Prints a plot of ordo-bench report as SVG:  node draw.js FILE TITLE
'use strict';

const fs = require('fs');
const path = require('path');

// The script of the page, whose parts share one scope.
const parts = ['svg.js', 'plots.js', 'page.js'].map(name => path.join(__dirname, '..', 'report', name));
const script = { exports: {} };
new Function('module', parts.map(name => fs.readFileSync(name, 'utf8')).join(''))(script);
const { allPlots, draw, gather, standalone } = script.exports;

const [file, title] = process.argv.slice(2);
const plots = allPlots(gather([{ name: path.basename(file), ...JSON.parse(fs.readFileSync(file, 'utf8')) }]));
const plot = plots.find(one => one.title === title);
if (!plot) {
    console.error(`${file} has no plot with the title ${title}`);
    process.exit(1);
}
process.stdout.write(standalone(draw(plot)));
