import { type Static, Type } from '@sinclair/typebox'
import { callerGone } from '../../core/errors.ts'
import type { UrlRule } from '../../core/flow/flow.ts'
import { Targeting } from '../../core/flow/flow.ts'
import { urlMatches } from '../../core/flow/url-rule.ts'
import { closed } from '../../core/flow/values.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { rulesVerdict } from '../../core/person/filter.ts'
import { maxPages } from '../../core/person/seen.ts'
import { Count } from '../../core/shapes.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { ListedPerson, PeopleList } from '../../storage/interfaces/people.ts'

/** People who were not seen in so many days are left out. */
const days = 7

const { urls, audience } = Targeting.properties

export const AudienceBody = closed({ urls, audience }, { title: 'AudienceBody' })
export type AudienceBody = Static<typeof AudienceBody>

const onPages = {
  people: Count('Of all, those who are known to have been there.', 420),
  matching: Count('Of those who match, those who are known to have been there.', 240),
  unknown: Count('Of all, those of whom this is not known.', 6),
}

const aboutPages =
  `The last ${maxPages} pages of a person's events are known, without query and fragment: of somebody with as ` +
  'many, and where a pattern compares query or fragment, it is unknown whether they were on another.'

export const Audience = Type.Object(
  {
    days: Type.Integer({ description: 'People seen in so many days.', examples: [days] }),
    people: Count('All people of these days.', 1_204),
    matching: Count('Who match the audience.', 640),
    notMatching: Count('Who do not.', 510),
    unknown: Count('Who have not reported a trait that decides it.', 54),
    traits: Type.Array(
      Type.Object({
        trait: Type.String({ examples: ['plan'] }),
        isListed: Type.Boolean({
          description: 'Whether the organisation lists it. If not, no page reports it.',
        }),
        unknown: Count('People who have not reported it.', 54),
      }),
      { description: 'The traits that the rules compare.' },
    ),
    pages: Type.Array(
      Type.Object({
        match: Type.Unsafe<UrlRule['match']>(urls.items.properties.match),
        pattern: urls.items.properties.pattern,
        ...onPages,
      }),
      { description: `Each pattern of \`urls\`. ${aboutPages}` },
    ),
    anyPage: Type.Object(onPages, {
      description: 'People on any of these pages. Without `urls`, all people.',
    }),
  },
  { title: 'Audience' },
)

/** What is known of somebody and a page: true, false, or null where it is not known. */
type Verdict = boolean | null

/** How many of the people of the last days an audience and its pages have. @throws AppError if the caller is gone */
export async function audienceOf(
  { ref, traits: listed }: Organisation,
  { urls, audience }: AudienceBody,
  now: number,
  list: Pick<PeopleList, 'people'>,
  signal: AbortSignal,
): Promise<Static<typeof Audience>> {
  const from = now - days * dayMs
  const counts = { people: 0, matching: 0, notMatching: 0, unknown: 0 }
  const traits = new Map(audience.rules.map(({ attribute }) => [attribute, 0]))
  const pages = urls.map(rule => ({ ...rule, people: 0, matching: 0, unknown: 0 }))
  const anyPage = { people: 0, matching: 0, unknown: 0 }
  const visitedBy = visits(urls, from)
  const count = (person: ListedPerson) => {
    counts.people++
    for (const [trait, unknown] of traits) {
      if (!person.traits.has(trait)) traits.set(trait, unknown + 1)
    }
    const verdict = rulesVerdict(audience, person.traits)
    counts[verdict === null ? 'unknown' : verdict ? 'matching' : 'notMatching']++
    const visited = visitedBy(person)
    for (const [i, page] of pages.entries()) add(page, visited[i]!, verdict)
    add(anyPage, urls.length === 0 || anyOf(visited), verdict)
  }
  const latestFirst = { by: 'lastSeen', isDescending: true } as const
  for await (const people of list.people(ref, latestFirst, null)) {
    if (signal.aborted) throw callerGone(signal.reason)
    for (const person of people) if (person.lastAt >= from) count(person)
    if (people.some(({ lastAt }) => lastAt < from)) break
  }
  const named = [...traits].map(([trait, unknown]) => ({
    ...{ trait, isListed: listed.includes(trait), unknown },
  }))
  return { days, ...counts, traits: named, pages, anyPage }
}

function add(
  to: { people: number; matching: number; unknown: number },
  isVisited: Verdict,
  isMatching: Verdict,
): void {
  if (isVisited === null) to.unknown++
  if (isVisited !== true) return
  to.people++
  if (isMatching === true) to.matching++
}

const anyOf = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.includes(true) || (verdicts.includes(null) ? null : false)

/** So many addresses are compared once, and not for each person anew. */
const maxRemembered = 20_000

/** Returns a function that says of each rule whether a person was on such a page from a moment on. */
function visits(rules: readonly UrlRule[], from: number) {
  const remembered = new Map<string, readonly boolean[]>()
  const matchesOf = (page: string) => {
    const known = remembered.get(page)
    if (known) return known
    const url = URL.parse(page)
    const matches = rules.map(rule => url !== null && urlMatches(rule, url))
    if (remembered.size < maxRemembered) remembered.set(page, matches)
    return matches
  }
  // A regular expression compares the query or the fragment only if it contains "\\?" or "#".
  const isStored = rules.map(
    ({ match, pattern }) => !(match === 'regex' ? /\\\?|#/ : /[?#]/).test(pattern),
  )
  return ({ pages }: ListedPerson): Verdict[] => {
    const recent = pages.filter(({ at }) => at >= from)
    const matches = recent.map(({ url }) => matchesOf(url))
    const isFull = recent.length === maxPages
    return rules.map((_, i) => {
      if (!isStored[i]) return null
      return matches.some(ofPage => ofPage[i]) || (isFull ? null : false)
    })
  }
}
