import { asBrowser, type Loaded, type Request, repeat } from './load.ts'
import type { Program } from './programs.ts'
import type { Tenant } from './seed.ts'

/** What pages ask for, as requests of one organisation. */

export type Question = (tenant: Tenant) => { path: string; body?: string; isKnown?: boolean }

export const flows: Question = () => ({ path: '/api/v1/flows' })

/** Asked by a client that already has the answer. */
export const knownFlows: Question = () => ({ path: '/api/v1/flows', isKnown: true })

export const oneFlow: Question = ({ flowId }) => ({ path: `/api/v1/flows/${flowId}` })

export const heartbeat: Question = () => ({ path: '/api/v1/heartbeat?v=1.0.0&sid=s1' })

export const healthReport: Question = ({ stepIds }) => ({
  path: `/api/v1/steps/${stepIds[1]}/health`,
  body: JSON.stringify({
    outcome: 'found',
    userId: 'user-1',
    url: 'https://app.example.com/projects/1',
    selector: '[data-test=new-project]',
    matchCount: 1,
    waitMs: 40,
    flowVersion: 1,
    snippetVersion: '1.0.0',
  }),
})

export const fingerprint: Question = ({ stepIds }) => ({
  path: `/api/v1/steps/${stepIds[1]}/fingerprint`,
  body: JSON.stringify({
    fingerprint: {
      selector: '[data-test=new-project]',
      matchCount: 1,
      tag: 'button',
      id: 'new-project',
      testId: { attr: 'data-test', value: 'new-project' },
      role: 'button',
      text: 'New project',
      classes: ['button', 'button-primary'],
      attributes: { type: 'button', title: 'New project' },
      ancestors: [{ tag: 'header', role: 'banner', nth: 1 }],
      nthOfType: 1,
      rect: { x: 900, y: 20, width: 120, height: 32 },
    },
    candidates: [],
    url: 'https://app.example.com/projects/1',
    locale: 'en-GB',
    flowVersion: 1,
    viewport: { width: 1280, height: 800 },
    snippetVersion: '1.0.0',
  }),
})

export const snippetStatus: Question = () => ({ path: '/api/v1/snippet-status' })

/** Asks a question once, and returns it ready to be repeated, with the bytes of its answer. */
export async function asked(
  program: Program,
  tenant: Tenant,
  question: Question,
): Promise<Request & { bytes: number }> {
  const { path, body, isKnown } = question(tenant)
  const headers = asBrowser(tenant)
  const ask = async () => {
    const json: Record<string, string> = body ? { 'Content-Type': 'application/json' } : {}
    const answer = await fetch(`${program.url}${path}`, {
      headers: { ...headers, ...json },
      decompress: false,
      ...(body && { method: 'POST', body }),
    })
    const bytes = (await answer.arrayBuffer()).byteLength
    if (!answer.ok && answer.status !== 304) throw new Error(`${path}: ${answer.status}`)
    return { bytes, etag: answer.headers.get('etag') ?? '' }
  }
  const { etag } = await ask()
  if (isKnown) headers['If-None-Match'] = etag
  const { bytes } = await ask()
  return { path, headers, bytes, ...(body && { body }) }
}

/** `GET /flows` as a few pages ask for it: how long they wait depends on what else the server does. */
export const readFlows = async (
  program: Program,
  tenant: Tenant,
  seconds: number,
): Promise<Loaded> =>
  repeat(program, await asked(program, tenant, flows), { connections: 4, pauseMs: 10, seconds })
