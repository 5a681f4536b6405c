import { folded } from '../../../core/text/text-hash.ts'

/** Finds elements on a page, open shadow roots included. */

type Tree = Document | ShadowRoot

/** The document, and every open shadow root in it, in document order. */
function* treesOf(root: Tree): Generator<Tree> {
  yield root
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot && !element.hasAttribute(ownHostAttribute)) {
      yield* treesOf(element.shadowRoot)
    }
  }
}

/** Marks what the snippet itself has put on the page: never a step's target. */
export const ownHostAttribute = 'data-cairn'

/** Every element that a selector matches, in all trees; none if it is not a valid selector. */
export function matching(document: Document, selector: string): Element[] {
  try {
    const found = [...treesOf(document)].flatMap(tree => [...tree.querySelectorAll(selector)])
    return found.filter(element => !element.closest(`[${ownHostAttribute}]`))
  } catch {
    return []
  }
}

/** What an element says, as people read it; never what was typed into it. */
export const textOf = (element: Element): string => folded(element.textContent ?? '')

/** The element that another one is rendered in, slots and shadow roots included. */
export const around = (element: Element): Element | null =>
  element.assignedSlot ??
  element.parentElement ??
  (element.getRootNode() as ShadowRoot).host ??
  null

/** Whether one element is rendered in another one, or is that one. */
export function contains(outer: Element, element: Element): boolean {
  for (let at: Element | null = element; at; at = around(at)) if (at === outer) return true
  return false
}

/** The element that has the focus, in open shadow roots too. */
export function focusedIn(document: Document): Element | null {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  return at
}

/** The innermost element at a point, in open shadow roots too, except for what the snippet has drawn. */
export function hitAt(x: number, y: number, root: Document | ShadowRoot): Element | null {
  const hit = root.elementsFromPoint(x, y).find(one => !one.hasAttribute(ownHostAttribute))
  const inner = hit?.shadowRoot && hit.shadowRoot !== root ? hitAt(x, y, hit.shadowRoot) : null
  return inner ?? hit ?? null
}
