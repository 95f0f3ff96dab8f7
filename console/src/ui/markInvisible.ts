/** Marks invisible characters in the tree of a Markdown text, as `Told` does in plain texts (CO-10). */
import { codePoint, pieces } from './invisible'

type TreeNode = { type: string; value?: string; children?: TreeNode[]; [more: string]: unknown }

/** A plugin of rehype; it changes the tree in place, as plugins do. */
export const markInvisible = () => (tree: TreeNode) => {
  mark(tree)
}

function mark(node: TreeNode): void {
  if (node.children === undefined) return
  node.children = node.children.flatMap((child) => (isText(child) ? marked(child) : [child]))
  node.children.forEach(mark)
}

/** HTML is only text here; nothing makes elements of it. */
const isText = (node: TreeNode): boolean => node.type === 'text' || node.type === 'raw'

function marked(text: TreeNode): TreeNode[] {
  return pieces(text.value ?? '').map((piece) =>
    piece.mark ? sign(piece.text) : { type: 'text', value: piece.text },
  )
}

const sign = (char: string): TreeNode => ({
  type: 'element',
  tagName: 'span',
  properties: { className: ['invisible-mark'] },
  children: [{ type: 'text', value: codePoint(char) }],
})
