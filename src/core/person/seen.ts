/** What events say of a person: when they were seen, their listed traits as last reported, and their pages. */
export interface Seen {
  /** Epoch milliseconds, as all times here. */
  firstAt: number
  lastAt: number
  traits: Map<string, ReportedTrait>
  pages: SeenPage[]
}

export interface ReportedTrait {
  value: string
  at: number
}

export interface SeenPage {
  /** Origin and path, without query and fragment, which often identify somebody. */
  url: string
  at: number
}

/** How many of the pages that a person saw last are kept. */
export const maxPages = 8
const maxPageLength = 300

/** The page of an address as it is kept; null for none, or one that is too long. */
export function pageOf(url: string | null): string | null {
  if (url === null) return null
  const end = url.search(/[?#]/)
  const page = end < 0 ? url : url.slice(0, end)
  return page === '' || page.length > maxPageLength ? null : page
}

const isLater = (a: ReportedTrait, b: ReportedTrait) =>
  a.at > b.at || (a.at === b.at && a.value > b.value)

/** Latest first, and the same whatever the order before. */
const byTime = (a: SeenPage, b: SeenPage) => b.at - a.at || (a.url < b.url ? -1 : 1)

/** Adds what other events say: of each trait and page the latest counts, so order and repetition do not matter. */
export function addSeen(to: Seen, other: Seen): void {
  to.firstAt = Math.min(to.firstAt, other.firstAt)
  to.lastAt = Math.max(to.lastAt, other.lastAt)
  for (const [name, trait] of other.traits) {
    const known = to.traits.get(name)
    if (known === undefined || isLater(trait, known)) to.traits.set(name, trait)
  }
  for (const page of other.pages) addPage(to.pages, page)
}

function addPage(pages: SeenPage[], page: SeenPage): void {
  const known = pages.find(({ url }) => url === page.url)
  if (known === undefined) pages.push(page)
  else if (page.at > known.at) pages[pages.indexOf(known)] = page
  else return
  pages.sort(byTime)
  pages.length = Math.min(pages.length, maxPages)
}

/** What is left once nothing that was reported up to a moment may be kept. */
export const after = (seen: Seen, moment: number): Seen => ({
  ...seen,
  traits: new Map([...seen.traits].filter(([, { at }]) => at > moment)),
  pages: seen.pages.filter(({ at }) => at > moment),
})
