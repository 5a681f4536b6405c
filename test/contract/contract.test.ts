import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { CommandLine } from '../support/command-line.ts'
import { Description, type Document } from '../support/described.ts'
import { type Case, type Row, readContract } from './document.ts'
import { faultsOf, routeOf } from './every-answer.ts'
import { type Answer, exchange, type Sent } from './exchange.ts'
import { missingRows } from './management-rows.ts'
import { beginSequence, fill } from './names.ts'
import { settled } from './pattern.ts'
import { promisedBy } from './promise.ts'
import { requestOf } from './request.ts'
import { type Holder, plenty, type Stage, setStage } from './stage.ts'

/** Runs every row of contract.md against the compiled binary. */

const contract = readContract(readFileSync(join(import.meta.dir, 'contract.md'), 'utf8'))

const place = new CommandLine()
let stage: Stage
beforeAll(async () => {
  stage = await setStage(place)
}, 60_000)
afterAll(() => place.close())

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
}

/** Newline-delimited JSON, as rows describe it. */
const linesIn = (text: string) => ({
  lines: [...text.matchAll(/.+/g)].map(([line]) => JSON.parse(line)),
})

/** An answer's body as rows describe it: a JSON value, a CSV's lines, or null where there is none. */
function bodyOf({ headers, body }: Answer): unknown {
  const [type = ''] = headers.get('content-type')?.split(';') ?? []
  if (type === 'application/x-ndjson') return linesIn(body.toString())
  if (body.length === 0) return null
  const decode = decoders[headers.get('content-encoding') ?? '']
  const text = (decode ? decode(body) : body).toString()
  if (type !== 'text/csv') return JSON.parse(text)
  return text.endsWith('\r\n') ? text.slice(0, -2).split('\r\n') : [text, 'without a last CRLF']
}

/** `{last ETag}`: a header, or else a field of the body, of the answer to the row before. */
function ofLast(last: Answer | null, name: string): string | undefined {
  if (!last || !name.startsWith('last ')) return undefined
  const field = name.slice('last '.length)
  return last.headers.get(field.toLowerCase()) ?? (bodyOf(last) as Record<string, string>)[field]
}

/** Whose good credential a request has, if anybody's. */
function holderOf({ target, headers }: Sent): Holder | null {
  const text = [target, ...headers.map(([, value]) => value)].join(' ')
  return [...stage.holders].find(([credential]) => text.includes(credential))?.[1] ?? null
}

/** The operator, whose organisations are Acme or none. */
function operatorOf({ headers }: Sent): Holder {
  const isAcmes = headers.some(([, value]) => value === 'acme')
  return { limit: isAcmes ? plenty : null, server: stage.server, isUncounted: true }
}

/** Sends a row's request, as often as it says, and holds the last answer against the row. */
async function play(row: Row, person: string, last: Answer | null): Promise<Answer> {
  const sends = contract.callers.get(row.caller)
  if (!sends) throw new Error(`contract.md:${row.line}: there is no caller "${row.caller}"`)
  const namesAt = (time: number) => (name: string) =>
    ({ person, n: `${time}` })[name] ?? ofLast(last, name)

  const send = async (time: number) => {
    const sent = requestOf(row, sends, stage.names, namesAt(time))
    const holder = row.caller.startsWith('operator') ? operatorOf(sent) : holderOf(sent)
    const { port } = new URL((holder?.server ?? stage.server).url)
    const door = holder?.isUncounted ? stage.socket : Number(port)
    return { sent, holder, answer: await exchange(door, sent) }
  }
  // All but the last at once: how they interleave is not what the row is about.
  const earlier = await Promise.all(Array.from({ length: row.times - 1 }, (_, i) => send(i + 1)))
  const { sent, holder, answer } = await send(row.times)

  const promised = {
    row: `contract.md:${row.line}`,
    status: row.status,
    earlier: earlier.map(() => row.status),
    ...promisedBy(row, contract, text => fill(text, stage.names, namesAt(row.times))),
    faults: [],
  }
  const isBodyOfInterest = promised.body !== undefined || answer.status !== row.status
  const given = {
    row: promised.row,
    status: answer.status,
    earlier: earlier.map(({ answer }) => answer.status),
    headers: Object.fromEntries(
      Object.keys(promised.headers).map(name => [
        name,
        answer.headers.get(name.toLowerCase()) ?? null,
      ]),
    ),
    body: isBodyOfInterest ? bodyOf(answer) : undefined,
    faults: faultsOf(sent, answer, contract, holder),
  }
  expect<unknown>(given).toEqual(settled(promised, given))
  return answer
}

/** Long rows are long only where the machine is busy. */
const patienceMs = 30_000

for (const [section, cases] of Map.groupBy(contract.cases, ({ section }) => section)) {
  describe(section, () => {
    test.each(cases.map((one): [string, Case] => [one.name, one]))(
      '%s',
      async (_, { rows }) => {
        beginSequence()
        const person = `person-${rows[0]?.line}`
        let last: Answer | null = null
        for (const row of rows) last = await play(row, person, last)
      },
      patienceMs,
    )
  })
}

describe('the document', () => {
  const rows = contract.cases.flatMap(one => one.rows)
  const routes = new Map(
    rows.map(row => {
      const sent = requestOf({ ...row, input: [] }, [], new Map(), () => 'x')
      return [row, routeOf(sent, contract.routes)]
    }),
  )
  const isOfRoute = ({ method, status }: Row) =>
    method !== 'OPTIONS' && status !== 405 && status !== 414 && status < 500

  test.each(contract.routes.map(route => [`${route.method} ${route.path}`, route] as const))(
    '%s has a row for each status that it can answer, and none for another',
    (_, route) => {
      const ofRoute = rows.filter(row => isOfRoute(row) && routes.get(row) === route)
      const answered = new Set(ofRoute.map(({ status }) => status))
      expect([...answered].sort()).toEqual([...route.answers].sort())
    },
  )

  test('has rows of every kind for each management route that the API describes', async () => {
    const response = await fetch(`${stage.server.url}/api/v1/openapi.json`)
    const description = new Description((await response.json()) as Document)
    const missing = description.managing.flatMap(({ method, path, operation }) => {
      const route = `${method} /api/v1${path}`
      const ofPath = rows.filter(row => routes.get(row)?.path === `/api/v1${path}`)
      const ofRoute = ofPath.filter(row => row.method === method && row.status !== 405)
      const missing = missingRows(operation, ofRoute, schema => description.resolved(schema))
      if (!ofPath.some(({ status }) => status === 405)) missing.push('a wrong method')
      return missing.map(what => `${route}: ${what}`)
    })
    expect(missing).toEqual([])
  })

  test('has a row for each caller and for each error', () => {
    const callers = new Set(rows.map(({ caller }) => caller))
    expect([...contract.callers.keys()].filter(caller => !callers.has(caller))).toEqual([])
    const codes = new Set(rows.map(({ word }) => word))
    const statuses = new Set(rows.map(({ status }) => status))
    const unused = [...contract.errors, ...contract.managementErrors].filter(
      ([code, { status }]) => !(status === 404 ? codes.has(code) : statuses.has(status)),
    )
    expect(unused).toEqual([])
  })
})
