import type { ProposedChange } from '../../core/flow/edit/proposed.ts'
import type { Theme } from '../../core/flow/theme.ts'
import type { Candidate } from '../../core/step/candidate.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'
import { jsonIn, request } from '../snippet/natives.ts'
import type { Flow } from '../snippet/parts.ts'
import { safely } from '../snippet/safely.ts'

/** What lets a page in: a ticket from its address, or a typed code; neither if it was let in before. */
export interface Proof {
  ticket?: string
  code?: string
}

/** The flow and step that the page was opened for. */
export interface Visit {
  task: 'pick' | 'build'
  flow: string
  step: string
  code: string
  draft: { title: string; selector: string | null } | null
}

/** A published flow that a button can start. */
export interface Startable {
  key: string
  name: string
  kind: Flow['kind']
}

/** The draft that is built, and how far the author's dashboard has come with the changes. */
export interface Built {
  /** Names this state of the draft. The three that follow are left out if they are known. */
  tag: string
  flow?: Flow
  theme?: Theme
  startable?: Startable[]
  /** Whether the flow's editor is open in the dashboard. Nobody else applies changes. */
  isAttended: boolean
  /** The ids of the changes that are not in the draft yet. */
  waiting: string[]
  problem: 'invalid' | 'conflict' | 'unsaved' | null
  undos: number
}

/** The session is over. Any other failure is a different error. */
export class Ended extends Error {}

/** The server does not take what was sent, and would not take it again. */
export class Rejected extends Error {
  constructor(readonly status: number) {
    super(String(status))
  }
}

/** Where the token is kept, for as long as the tab, so that work goes on from page to page; and the step. */
const name = 'cairn-author'
const stepName = 'cairn-author:step'

/** Some pages may not store anything. Then what is kept lasts as long as the page. */
const kept = (name: string): string | null => safely(() => sessionStorage.getItem(name)) ?? null

function keep(name: string, text: string | null): void {
  safely(() => {
    if (text === null) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, text)
  })
}

const forget = () => {
  keep(name, null)
  keep(stepName, null)
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
      forget()
      throw new Ended()
    }
    if ([409, 413, 422].includes(response.status)) throw new Rejected(response.status)
    if (!response.ok) throw new Error(String(response.status))
    return jsonIn(response)
  }

  return {
    origin: new URL(baseUrl).origin,

    /** The form of a flow in the dashboard, whose organisation the page does not know. */
    formOf: (flow: string) => `${baseUrl}/dashboard/-/flows/${encodeURIComponent(flow)}/edit`,

    /** @throws Ended */
    async enter({ ticket, code }: Proof): Promise<Visit> {
      if (ticket === undefined && code === undefined) {
        token = kept(name)
        return ask<Visit>('step', {})
      }
      const entered = await ask<Visit & { token: string }>('redeem', { ticket, code })
      token = entered.token
      forget()
      keep(name, token)
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

    /** The draft, without what is known of it. @throws Ended */
    draft: (known: string | undefined) => ask<Built>('draft', { known }),

    /** @throws Ended, Rejected */
    async change(id: string, change: ProposedChange) {
      await ask('changes', { id, change })
    },

    /** The step that the author was at on the page before. */
    step: {
      get: () => kept(stepName),
      set: (key: string) => keep(stepName, key),
    },

    leave() {
      token = null
      forget()
    },
  }
}

export type AuthorSession = ReturnType<typeof sessionAt>
