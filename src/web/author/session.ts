import type { Fingerprint } from '../../core/step/fingerprint.ts'
import { jsonIn, request } from '../snippet/natives.ts'
import type { Candidate } from './candidates.ts'

/** What lets a page in: a ticket from its address, or a typed code; neither if it was let in before. */
export interface Proof {
  ticket?: string
  code?: string
}

/** The flow and step that the page was opened for. */
export interface Visit {
  flow: string
  step: string
  code: string
  draft: { title: string; selector: string | null } | null
}

/** A refusal: the session is over. Any other failure is a different error. */
export class Ended extends Error {}

/** Where the token is kept, for as long as the tab, so that picking goes on from page to page. */
const name = 'cairn-author'

/** Some pages may not store anything. Then the token lasts as long as the page. */
function kept(): string | null {
  try {
    return sessionStorage.getItem(name)
  } catch {
    return null
  }
}

function keep(token: string | null): void {
  try {
    if (token === null) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, token)
  } catch {
    // The page may not store anything: see `kept`.
  }
}

/** Requests to Cairn, and to nobody else: the address is where the snippet itself was loaded from. */
export function sessionAt(baseUrl: string) {
  let token: string | null = null

  async function ask<Answer>(path: string, body: unknown): Promise<Answer> {
    const response = await request(`${baseUrl}/author/${path}`, {
      method: 'POST',
      credentials: 'omit',
      headers: {
        'Content-Type': 'text/plain',
        ...(token !== null && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    if (response.status === 401) {
      keep(null)
      throw new Ended()
    }
    if (!response.ok) throw new Error(String(response.status))
    return jsonIn(response)
  }

  return {
    origin: new URL(baseUrl).origin,

    /** @throws Ended */
    async enter({ ticket, code }: Proof): Promise<Visit> {
      if (ticket === undefined && code === undefined) {
        token = kept()
        return ask<Visit>('step', {})
      }
      const entered = await ask<Visit & { token: string }>('redeem', { ticket, code })
      token = entered.token
      keep(token)
      return entered
    },

    /** @throws Ended */
    async propose(
      element: string,
      candidates: Candidate[],
      fingerprint: Fingerprint,
      isWrapper: boolean,
    ) {
      await ask('picks', {
        page: location.origin + location.pathname,
        element,
        candidates: candidates.map(({ selector, matchCount }) => ({ selector, matchCount })),
        fingerprint,
        isWrapper,
      })
    },

    leave() {
      token = null
      keep(null)
    },
  }
}

export type AuthorSession = ReturnType<typeof sessionAt>
