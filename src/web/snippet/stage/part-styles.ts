/** Which parts have added their styles to a shadow root. */
const styled = new WeakMap<ShadowRoot, Set<string>>()

/**
 * Adds the styles of a part that was loaded later, once.
 *
 * @param within an element that is in the shadow root already
 */
export function addStyles(within: Element, styles: string, page: Window): void {
  const shadow = within.getRootNode() as ShadowRoot
  const known = styled.get(shadow) ?? new Set()
  if (known.has(styles) || !shadow.adoptedStyleSheets) return
  const sheet = new (page as Window & typeof globalThis).CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet]
  styled.set(shadow, known.add(styles))
}
