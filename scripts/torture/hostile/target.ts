import {
  apiOf,
  firstFlowOf,
  type Organisation,
  type Server,
  sessionToken,
  type Workplace,
} from '../../support/binary.ts'

/** A text that is in everything that hostile clients send, and must not appear anywhere else. */
export const marker = 'hostile7f3a'

/** An organisation whose snippet key and session token hostile clients know, and its flow. */
export interface Target {
  port: number
  snippetKey: string
  token: string
  flowId: string
}

export async function targetOf(
  place: Workplace,
  server: Server,
  { slug, snippetKey }: Organisation,
): Promise<Target> {
  const token = await sessionToken(place, slug)
  const { id: flowId } = await firstFlowOf(apiOf(server, snippetKey))
  return { port: Number(new URL(server.url).port), snippetKey, token, flowId }
}

const batchEvents = 50
const senders = 8

/** Gives a target's flow events to download, about 400 bytes of CSV each. */
export async function fill(server: Server, target: Target, events: number): Promise<void> {
  const ask = apiOf(server, target.snippetKey)
  const url = `https://app.example.com/${'x'.repeat(220)}`
  let sent = 0
  const send = async () => {
    while (sent < events) {
      const from = sent
      sent += batchEvents
      const batch = Array.from({ length: batchEvents }, (_, i) => ({
        kind: 'flow_started',
        flowId: target.flowId,
        userId: `visitor-${from + i}`,
        runId: `run-${from + i}`,
        url,
      }))
      const answer = await ask('POST', '/events', { events: batch })
      if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`)
    }
  }
  await Promise.all(Array.from({ length: senders }, send))
}

/** A request's head without its empty line, for a path below `/api/v1`. */
export const headOf = (what: string, credential?: string, more = '') => {
  const [method, path] = what.split(' ')
  const authorization = credential === undefined ? '' : `Authorization: Bearer ${credential}\r\n`
  return `${method} /api/v1${path} HTTP/1.1\r\nHost: ${marker}\r\n${authorization}${more}`
}

/** The download of all events of a target's flow. */
export const downloadOf = ({ flowId, token }: Target) =>
  `${headOf(`GET /flows/${flowId}/analytics/export.csv?rows=events`, token)}Connection: close\r\n\r\n`

export const event = JSON.stringify({
  events: [{ kind: 'custom', name: marker, userId: marker }],
})

/** A POST of events whose body is framed by `framing`. */
export const postOf = ({ snippetKey }: Target, framing: string, body = '') =>
  `${headOf('POST /events', snippetKey, framing)}\r\n${body}`

export const withLength = (target: Target, body: string) =>
  postOf(target, `Content-Length: ${Buffer.byteLength(body)}\r\n`, body)
