import { api } from './base.ts'
import { Failure, failureOf, reach } from './failure.ts'
import { presence, renew, token } from './session.ts'
import { noteNodesBehind, noteReached, noteTrouble } from './trouble.ts'

export interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  /** What is known already: the answer is null where it has not changed. */
  known?: string | null
  /** What was read, for an edit. */
  ifMatch?: string
  /** For an edit of what must not be there yet. */
  isNew?: boolean
  signal?: AbortSignal
}

export interface Answer<T> {
  /** Null where it has not changed. */
  value: T | null
  etag: string | null
}

async function send(path: string, asked: Asked, credential: string): Promise<Response> {
  const { method = 'GET', body, known, ifMatch, isNew, signal } = asked
  const headers: Record<string, string> = { authorization: `Bearer ${credential}` }
  if (known) headers['if-none-match'] = known
  if (ifMatch) headers['if-match'] = ifMatch
  if (isNew) headers['if-none-match'] = '*'
  if (body !== undefined) headers['content-type'] = 'application/json'
  return reach(`${api}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
}

/**
 * Asks the API. A session whose token has ended gets a new one; where there is no session any more,
 * the dashboard asks to sign in again.
 *
 * @param path below `/api/v1`, with its query
 * @throws Failure
 */
export async function ask<T>(path: string, asked: Asked = {}): Promise<Answer<T>> {
  try {
    let response = await send(path, asked, await token())
    if (response.status === 401) {
      await renew()
      response = await send(path, asked, await token())
      if (response.status === 401) presence.value = 'out'
    }
    const etag = response.headers.get('etag')
    if (response.status === 304) {
      // Read to its end, of which there is nothing: else browsers count it as broken off.
      await response.text()
      noteReached()
      return { value: null, etag }
    }
    if (!response.ok) throw await failureOf(response)
    if (asked.method && asked.method !== 'GET') {
      noteNodesBehind(response.headers.get('cairn-nodes-behind') ?? '')
    }
    const value = response.status === 204 ? null : ((await response.json()) as T)
    noteReached()
    return { value, etag }
  } catch (error) {
    if (error instanceof Failure) noteTrouble(error)
    throw error
  }
}

/** A file of the API, whole. @throws Failure */
export async function download(path: string): Promise<Blob> {
  const response = await send(path, {}, await token())
  if (!response.ok) throw await failureOf(response)
  return response.blob()
}

/** Has something done, and answers what became of it. @throws Failure */
export async function act<T>(path: string, asked: Asked): Promise<T> {
  return (await ask<T>(path, { method: 'POST', ...asked })).value as T
}
