const said = new Set<string>()

/**
 * Tells whoever puts the snippet on a page what they can mend, in the browser's console: once, for some
 * pages say the same with everything that they draw.
 */
export function warn(what: string): void {
  if (said.has(what)) return
  said.add(what)
  console.warn(`cairn: ${what}`)
}
