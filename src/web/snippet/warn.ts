const said = new Set<string>()

/**
 * Tells whoever puts the snippet on a page what they can fix, in the browser's console. Each message comes
 * once, because some pages cause the same one at every render.
 */
export function warn(what: string): void {
  if (said.has(what)) return
  said.add(what)
  console.warn(`cairn: ${what}`)
}
