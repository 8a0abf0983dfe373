const [WIDTH, LINE_HEIGHT, MARGIN] = [660, 18, 20];

/**
 * Draws the result of the demo as the README shows it: from who earned what to what the second run posted.
 * `npm run screenshots` writes it to `docs/demo.svg`, and a test of the documents compares it with each run.
 */
export function drawDemo(output: string): string {
  const from = output.indexOf('Who earned what');
  const end = 'each once.';
  const lines = output.slice(from, output.indexOf(end, from) + end.length).split('\n');
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const text = lines.map((line, index) => {
    const weight = /^\S.*:/.test(line) ? ' font-weight="bold"' : '';
    return `  <text x="${MARGIN}" y="${MARGIN + 13 + index * LINE_HEIGHT}"${weight}>${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="What the demo prints at its end: who earned what, what was not credited and why, and that a second run posted nothing.">
  <rect width="100%" height="100%" rx="8" fill="#16181d"/>
  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#d6dae2" xml:space="preserve">
${text.join('\n')}
  </g>
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
