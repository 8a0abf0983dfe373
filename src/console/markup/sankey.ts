import { type SankeyLink, type SankeyNode, sankey, sankeyLinkHorizontal } from 'd3-sankey';
import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { cut, formatCount } from '../../render/text.ts';
import { anchor, table } from './parts.ts';

/** A node. Names are for display and may repeat; keys are unique. */
export type FlowNode = { readonly key: string; readonly name: string };

/** A flow of items from one node to another. */
export type Flow = {
  readonly from: FlowNode;
  readonly to: FlowNode;
  readonly count: number;
  /** Address of the list of exactly these items. */
  readonly href?: string;
};

type Link = { readonly source: string; readonly target: string; readonly value: number };
type DrawnNode = SankeyNode<FlowNode, Link>;
type DrawnLink = SankeyLink<FlowNode, Link>;

const WIDTH = 900;
const NODE_WIDTH = 12;
const NODE_PADDING = 18;
const HEIGHT_PER_NODE = 34;
const COLORS = 6;
const NAME_LENGTH = 34;

/**
 * Draws a Sankey diagram, with the same numbers in a table below.
 *
 * @param options.title what flows, for screen readers.
 */
export function sankeyPicture(flows: readonly Flow[], { title }: { readonly title: string }): Html {
  const shown = flows.filter(({ count }) => count > 0);
  if (shown.length === 0) return html``;
  const { nodes, links, height } = layOut(shown);
  const toPath = sankeyLinkHorizontal<FlowNode, Link>();
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}; the table below has the numbers">
${links.map((link) => {
  const { name: from } = link.source as DrawnNode;
  const { name: to } = link.target as DrawnNode;
  return html`<path class="flow" d="${toPath(link) ?? ''}" stroke-width="${Math.max(1, link.width ?? 1).toFixed(1)}"><title>${from} to ${to}: ${formatCount(link.value)}</title></path>
`;
})}
${nodes.map((node, index) => nodeMarkup(node, index))}
</svg>
<details><summary>The numbers</summary>
${table(
  shown,
  [
    column('From', ({ from }) => from.name),
    column('To', ({ to }) => to.name),
    number('Count', ({ count, href }) =>
      href === undefined ? formatCount(count) : anchor(href, formatCount(count)),
    ),
  ],
  { about: title, none: 'None.' },
)}</details>
`;
}

function layOut(flows: readonly Flow[]) {
  const places = new Map(flows.flatMap(({ from, to }) => [from, to]).map((place) => [place.key, place]));
  const widest = Math.max(
    new Set(flows.map(({ from }) => from.key)).size,
    new Set(flows.map(({ to }) => to.key)).size,
  );
  const height = Math.max(3, widest) * HEIGHT_PER_NODE;
  const draw = sankey<FlowNode, Link>()
    .nodeId(({ key }) => key)
    .nodeWidth(NODE_WIDTH)
    .nodePadding(NODE_PADDING)
    // Keep the order of the flows, which is that of the text.
    .nodeSort(null)
    .extent([
      [1, 10],
      [WIDTH - 1, height - 10],
    ]);
  const graph = draw({
    nodes: [...places.values()].map((place) => ({ ...place })),
    links: flows.map(({ from, to, count }) => ({ source: from.key, target: to.key, value: count })),
  });
  return { nodes: graph.nodes, links: graph.links as readonly DrawnLink[], height };
}

/** Draws a node. Names are inside the picture, next to the node on the side of the centre. */
function nodeMarkup({ name, value = 0, x0 = 0, x1 = 0, y0 = 0, y1 = 0 }: DrawnNode, index: number): Html {
  const isLast = x1 > WIDTH - NODE_WIDTH;
  const x = isLast ? x0 - 6 : x1 + 6;
  return html`<rect class="c${index % COLORS}" x="${x0.toFixed(1)}" y="${y0.toFixed(1)}" width="${NODE_WIDTH}" height="${Math.max(1, y1 - y0).toFixed(1)}"><title>${name}: ${formatCount(value)}</title></rect><text x="${x.toFixed(1)}" y="${((y0 + y1) / 2 + 4).toFixed(1)}" text-anchor="${isLast ? 'end' : 'start'}">${cut(name, NAME_LENGTH)} ${formatCount(value)}</text>
`;
}
