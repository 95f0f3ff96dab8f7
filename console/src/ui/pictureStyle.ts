/** How nodes and edges are drawn: a shape for each sort, so that colour is never the only sign (CO-9). */
import type { StylesheetJson } from 'cytoscape'

/** What somebody said or did; what is believed; the work that made it; a thing that is spoken of. */
export type Sort = 'source' | 'statement' | 'work' | 'thing'

const LIGHT = { text: '#1a1b1e', line: '#868e96', selected: '#c2255c' }
const DARK = { text: '#f1f3f5', line: '#909296', selected: '#ff8787' }

const SORTS: Record<Sort, { shape: string; light: string; dark: string }> = {
  source: { shape: 'rectangle', light: '#d0ebff', dark: '#1864ab' },
  statement: { shape: 'round-rectangle', light: '#c3fae8', dark: '#087f5b' },
  work: { shape: 'cut-rectangle', light: '#e9ecef', dark: '#495057' },
  thing: { shape: 'ellipse', light: '#fff3bf', dark: '#8f5b00' },
}

export function pictureStyle(dark: boolean): StylesheetJson {
  const colours = dark ? DARK : LIGHT
  return [
    {
      selector: 'node',
      style: {
        label: 'data(label)',
        'text-wrap': 'wrap',
        'text-max-width': '172px',
        'text-valign': 'center',
        'text-halign': 'center',
        'font-size': 13,
        color: colours.text,
        width: 190,
        height: 66,
        'border-width': 1,
        'border-color': colours.line,
      },
    },
    ...Object.entries(SORTS).map(([sort, { shape, light, dark: deep }]) => ({
      selector: `node[sort = "${sort}"]`,
      style: { shape: shape as 'rectangle', 'background-color': dark ? deep : light },
    })),
    { selector: 'node[?root]', style: { 'border-width': 3, 'border-color': colours.text } },
    { selector: 'node[more > 0]', style: { 'border-style': 'double', 'border-width': 4 } },
    {
      selector: 'edge',
      style: {
        width: 1.5,
        'line-color': colours.line,
        'target-arrow-color': colours.line,
        'target-arrow-shape': 'triangle',
        'curve-style': 'bezier',
        label: 'data(label)',
        'font-size': 11,
        color: colours.text,
        'text-wrap': 'ellipsis',
        'text-max-width': '100px',
        'text-rotation': 'autorotate',
        'text-background-color': dark ? '#1a1b1e' : '#ffffff',
        'text-background-opacity': 0.85,
        'text-background-padding': '2px',
      },
    },
    {
      selector: ':selected',
      style: {
        'border-width': 4,
        'border-color': colours.selected,
        'line-color': colours.selected,
        'target-arrow-color': colours.selected,
      },
    },
  ]
}
