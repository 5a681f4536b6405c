import { apiOf } from '../../support/binary.ts'
import type { Courtesy } from './polite.ts'

declare const self: Worker

const pauseMs = 10

let seen: Courtesy = { durations: [], failures: [] }

/** Sends one request after another, as pages do, and checks each answer. */
async function work({ url, snippetKey }: { url: string; snippetKey: string }): Promise<never> {
  const ask = apiOf({ url }, snippetKey)
  const flows = await (await ask('GET', '/flows')).text()
  const requests: [
    what: string,
    send: () => Promise<Response>,
    isRight: (text: string) => boolean,
  ][] = [
    ['GET /flows', () => ask('GET', '/flows'), text => text === flows],
    [
      'POST /events',
      () => ask('POST', '/events', { events: [{ kind: 'custom', name: 'polite', userId: 'ann' }] }),
      text => JSON.parse(text).accepted === 1,
    ],
    ['heartbeat', () => ask('GET', '/heartbeat'), text => JSON.parse(text).status === 'ok'],
  ]
  for (let turn = 0; ; turn++) {
    const [what, send, isRight] = requests[turn % requests.length]!
    const startedAt = performance.now()
    try {
      const response = await send()
      const text = await response.text()
      seen.durations.push(performance.now() - startedAt)
      if (!isRight(text)) seen.failures.push(`${what}: ${response.status} ${text.slice(0, 200)}`)
    } catch (error) {
      seen.failures.push(`${what}: ${(error as Error).message}`)
    }
    await Bun.sleep(pauseMs)
  }
}

self.onmessage = ({ data }: MessageEvent<'seen' | { url: string; snippetKey: string }>) => {
  if (data !== 'seen') return void work(data)
  self.postMessage(seen)
  seen = { durations: [], failures: [] }
}
