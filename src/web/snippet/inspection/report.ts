import type { Why } from '../parts.ts'
import type { Inside } from './inside.ts'
import type { TracedEvent, traceTraffic } from './traffic.ts'
import { verdictsOn } from './why.ts'

/** What the panel shows, as plain data. It is also what people copy when they ask for help. */
export interface DebugReport {
  versions: Record<string, string>
  person: Record<string, string>
  connection: Record<string, string>
  flows: (Why & { progress: string })[]
  events: TracedEvent[]
}

const outcomes = {
  known: 'has sent what they have done',
  refused: 'does not accept that it is them',
}

/** The whole report as of now. It leaves out the snippet key, and tells of the user hash only whether it is there. */
export function reportOf(inside: Inside, traffic: ReturnType<typeof traceTraffic>): DebugReport {
  const { engine, feed, person, settings, transport, page, version } = inside
  const { userId, anonymousId, userHash, traits } = person.current
  const consent = inside.storedConsent()
  const { flows, areKnown } = engine.facts()
  const identified = feed.identified()
  const answers = [...traffic.answers].map(([bucket, { status, at }]) => {
    const pause = Math.ceil(transport.pauseMs(bucket) / 1_000)
    const what = status === 0 ? 'no answer' : String(status)
    return [bucket, `${what} at ${timeOf(at)}${pause > 0 ? `, again in ${pause} s` : ''}`]
  })
  return {
    versions: {
      snippet: version,
      drawing: settings.headless ? 'by the page (headless)' : "Cairn's own",
      browser: page.navigator.userAgent,
    },
    person: {
      ...(userId === null ? { visitor: anonymousId } : { user: userId }),
      identify: {
        pending: 'waited for',
        guessed: 'not called on this page',
        identified: 'called',
      }[inside.who()]!,
      server: identified === 'alone' ? 'has sent nothing about them' : outcomes[identified],
      'user hash': userHash === null ? 'none' : 'given',
      traits: JSON.stringify(traits),
      consent: consent === null ? 'not asked' : consent ? 'given' : 'refused',
      reports: inside.isAllowed() ? 'are sent' : 'are not sent',
    },
    connection: {
      server: settings.baseUrl,
      flows: areKnown ? `${flows.length} published` : 'not known yet',
      ...Object.fromEntries(answers),
    },
    flows: verdictsOn(inside).map(({ flow: { key }, isDue: _, ...why }) => {
      const { completed, total } = engine.progress(key)!
      return { ...why, progress: `${completed} of ${total}` }
    }),
    events: traffic.events(),
  }
}

export const timeOf = (epochMs: number) => new Date(epochMs).toISOString().slice(11, 19)
