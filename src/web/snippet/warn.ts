const warned = new Set<string>()

/**
 * Warns the developer of the page in the browser's console. Each message comes once, because some pages
 * cause the same one at every render.
 */
export function warn(what: string): void {
  if (warned.has(what)) return
  warned.add(what)
  console.warn(`cairn: ${what}`)
}
