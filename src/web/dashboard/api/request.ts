import { api } from './base.ts'
import { Failure, failureOf, reach } from './failure.ts'
import { whilePending } from './pending.ts'
import { presence, renew, token } from './session.ts'
import { noteNodesBehind, noteReached, noteTrouble } from './trouble.ts'

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** JSON, or a file. */
  body?: unknown
  /** The ETag of what is known already: the answer is null if it has not changed. */
  known?: string | null
  /** The ETag of what was read, for an edit. */
  ifMatch?: string
  /** For an edit that creates something, which must not exist yet. */
  isNew?: boolean
  signal?: AbortSignal
}

export interface Answer<T> {
  /** Null if it has not changed. */
  value: T | null
  etag: string | null
}

async function send(path: string, options: RequestOptions, credential: string): Promise<Response> {
  const { method = 'GET', body, known, ifMatch, isNew, signal } = options
  const headers: Record<string, string> = { authorization: `Bearer ${credential}` }
  if (known) headers['if-none-match'] = known
  if (ifMatch) headers['if-match'] = ifMatch
  if (isNew) headers['if-none-match'] = '*'
  const isFile = body instanceof Blob
  if (body !== undefined && !isFile) headers['content-type'] = 'application/json'
  return reach(`${api}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
}

/**
 * Asks the API. A session whose token has ended gets a new token. If the session itself has ended, the
 * dashboard asks to sign in again.
 *
 * @param path below `/api/v1`, with its query
 * @throws Failure
 */
export const ask = <T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> =>
  whilePending(askNow<T>(path, options))

async function askNow<T>(path: string, options: RequestOptions): Promise<Answer<T>> {
  try {
    let response = await send(path, options, await token())
    if (response.status === 401) {
      await renew()
      response = await send(path, options, await token())
      if (response.status === 401) presence.value = 'out'
    }
    const etag = response.headers.get('etag')
    if (response.status === 304) {
      // The empty body is read to its end, otherwise browsers count the answer as aborted.
      await response.text()
      noteReached()
      return { value: null, etag }
    }
    if (!response.ok) throw await failureOf(response)
    if (options.method && options.method !== 'GET') {
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

/** A whole file from the API. @throws Failure */
export async function download(path: string): Promise<Blob> {
  const response = await send(path, {}, await token())
  if (!response.ok) throw await failureOf(response)
  return response.blob()
}

/** Has something done, and returns the outcome. @throws Failure */
export async function act<T>(path: string, options: RequestOptions): Promise<T> {
  return (await ask<T>(path, { method: 'POST', ...options })).value as T
}
