// SPDX-License-Identifier: Apache-2.0
// Draws pages of ordo-bench report as a browser does: each file is replaced by the HTML that its script makes.
//
//     node render.js PAGE...       node render.js --lines PAGE    prints the colours, dashes and marks of lines instead
'use strict';

const fs = require('fs');

function partsOf(page) {
    const [head, rest] = page.split('<noscript>');
    const [, files, script] = rest.match(/id="files">(.*?)<\/script>\s*<script>(.*)<\/script>/s);
    const module = { exports: {} };
    new Function('module', script)(module);
    return { head, files: JSON.parse(files), ...module.exports };
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--lines') {
    const { COLOURS, LINES, MARKS } = partsOf(fs.readFileSync(rest[0], 'utf8'));
    console.log(JSON.stringify({ colours: COLOURS, lines: LINES, marks: MARKS.length }));
} else {
    for (const name of [first, ...rest]) {
        const { head, files, page } = partsOf(fs.readFileSync(name, 'utf8'));
        fs.writeFileSync(name, head + page(files));
    }
}
