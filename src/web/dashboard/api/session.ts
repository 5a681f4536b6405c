import { signal } from '@preact/signals'
import type { Theme } from '../../../core/flow/theme.ts'
import type { SignInMethods } from '../../../modules/dashboard/schema.ts'
import { base } from './base.ts'
import { Failure, failureOf, reach } from './failure.ts'

export type Role = 'viewer' | 'editor' | 'owner' | 'operator'

export const roleNames: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  editor: 'Editor',
  owner: 'Owner',
  operator: 'Operator',
}

/** Who is signed in, for one organisation. The token lives for minutes, and only in memory. */
export interface Session {
  token: string
  expiresAt: string
  role: Role
  /** `isNamed` is false until the person has given a name. */
  person: { id: string; name: string; isNamed: boolean }
  organisation: { id: string; slug: string; name: string }
  /** The time zone of the days shown if the address names none; null for the browser's. */
  timezone: string | null
  /** The organisation's theme, which previews use; null if it has none. */
  theme: Theme | null
  /** When the session ends, whatever anybody does. */
  endsAt: string
}

export type Scope =
  | 'flows:read'
  | 'flows:write'
  | 'flows:publish'
  | 'analytics:read'
  | 'people:read'
  | 'people:erase'
  | 'settings:write'

const ofViewer: Scope[] = ['flows:read', 'analytics:read']
const ofEditor: Scope[] = [...ofViewer, 'flows:write', 'flows:publish', 'people:read']
const ofOwner: Scope[] = [...ofEditor, 'people:erase', 'settings:write']
const scopes: Record<Role, (Scope | 'operator')[]> = {
  viewer: ofViewer,
  editor: ofEditor,
  owner: ofOwner,
  operator: [...ofOwner, 'operator'],
}

/** Null until it is known. A session that has ended stays here, so that pages keep what they show. */
export const session = signal<Session | null>(null)

/** Whether somebody is signed in; unknown until the server has been asked. */
export const presence = signal<'unknown' | 'in' | 'out'>('unknown')

/** Whether the person who is signed in may do this. The server has the last word. */
export const may = (scope: Scope | 'operator'): boolean =>
  session.value !== null && scopes[session.value.role].includes(scope)

/** Asks a session route: with the cookie, and a header that no other site can send. @throws Failure */
export async function askSession<T>(path: string, body: unknown): Promise<T> {
  const response = await reach(`${base}/session/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'cairn-dashboard': '1' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await failureOf(response)
  return response.json()
}

/** The ways to sign in. @throws Failure */
export async function readWays(): Promise<SignInMethods> {
  const response = await reach(`${base}/session/ways`, {})
  if (!response.ok) throw await failureOf(response)
  return response.json()
}

let asking: Promise<Session> | null = null

/** Asks for a new token. @throws Failure */
export function renew(): Promise<Session> {
  asking ??= askSession<Session>('token', {})
    .then(renewed => {
      session.value = renewed
      presence.value = 'in'
      return renewed
    })
    .catch(error => {
      if (error instanceof Failure && error.status === 401) presence.value = 'out'
      throw error
    })
    .finally(() => {
      asking = null
    })
  return asking
}

/** A token that ends sooner than this is no longer used. */
const marginMs = 30_000

/** A token that still works. @throws Failure */
export async function token(): Promise<string> {
  const known = session.peek()
  const isFresh = known && Date.parse(known.expiresAt) - Date.now() > marginMs
  return (isFresh ? known : await renew()).token
}

/** Ends the session here, or in every browser. */
export async function signOut(everywhere: boolean): Promise<void> {
  const { goTo } = await askSession<{ goTo: string | null }>('sign-out', { everywhere })
  location.assign(goTo ?? `${base}/sign-in`)
}
