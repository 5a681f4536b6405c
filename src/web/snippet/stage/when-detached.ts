import { safely } from '../safely.ts'

/**
 * Calls back when the page has changed the children of something that a node is in: only then may the node
 * have been taken off the page, alone or with all around it. To be called anew once the node has moved.
 *
 * @returns a function that ends it
 */
export function whenDetached(node: Node, changed: () => void): () => void {
  const observer = new MutationObserver(() => safely(changed))
  for (let at = outside(node); at; at = outside(at)) observer.observe(at, { childList: true })
  return () => observer.disconnect()
}

const outside = (node: Node): Node | null => node.parentNode ?? (node as ShadowRoot).host ?? null
