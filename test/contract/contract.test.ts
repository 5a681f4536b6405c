import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { Workplace } from '../support/binary.ts'
import { type Case, type Row, readContract } from './document.ts'
import { faultsOf, routeOf } from './every-answer.ts'
import { type Answer, exchange, type Sent } from './exchange.ts'
import { beginSequence, fill } from './names.ts'
import { settled } from './pattern.ts'
import { promisedBy } from './promise.ts'
import { requestOf } from './request.ts'
import { type Stage, setStage } from './stage.ts'

/** Runs every row of contract.md against the compiled binary. */

const contract = readContract(readFileSync(join(import.meta.dir, 'contract.md'), 'utf8'))

const place = new Workplace()
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

/** An answer's body as rows describe it: a JSON value, a CSV's lines, or null where there is none. */
function bodyOf({ headers, body }: Answer): unknown {
  if (body.length === 0) return null
  const decode = decoders[headers.get('content-encoding') ?? '']
  const text = (decode ? decode(body) : body).toString()
  if (!headers.get('content-type')?.startsWith('text/csv')) return JSON.parse(text)
  return text.endsWith('\r\n') ? text.slice(0, -2).split('\r\n') : [text, 'without a last CRLF']
}

/** `{last ETag}`: a header, or else a field of the body, of the answer to the row before. */
function ofLast(last: Answer | null, name: string): string | undefined {
  if (!last || !name.startsWith('last ')) return undefined
  const field = name.slice('last '.length)
  return last.headers.get(field.toLowerCase()) ?? (bodyOf(last) as Record<string, string>)[field]
}

/** Whose good credential a request has, if anybody's. */
function holderOf({ target, headers }: Sent) {
  const text = [target, ...headers.map(([, value]) => value)].join(' ')
  return [...stage.holders].find(([credential]) => text.includes(credential))?.[1] ?? null
}

/** Sends a row's request, as often as it says, and holds the last answer against the row. */
async function play(row: Row, person: string, last: Answer | null): Promise<Answer> {
  const sends = contract.callers.get(row.caller)
  if (!sends) throw new Error(`contract.md:${row.line}: there is no caller "${row.caller}"`)
  const namesAt = (time: number) => (name: string) =>
    ({ person, n: `${time}` })[name] ?? ofLast(last, name)

  const send = async (time: number) => {
    const sent = requestOf(row, sends, stage.names, namesAt(time))
    const holder = holderOf(sent)
    const { port } = new URL((holder?.server ?? stage.server).url)
    return { sent, holder, answer: await exchange(Number(port), sent) }
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
  const routeOfRow = ({ method, target }: Row) => {
    const sent = requestOf({ method, target, input: [] }, [], new Map(), () => 'x')
    return routeOf(sent, contract.routes)
  }
  const isOfRoute = ({ method, status }: Row) =>
    method !== 'OPTIONS' && status !== 405 && status !== 414 && status < 500

  test.each(contract.routes.map(route => [`${route.method} ${route.path}`, route] as const))(
    '%s has a row for each status that it can answer, and none for another',
    (_, route) => {
      const ofRoute = rows.filter(row => isOfRoute(row) && routeOfRow(row) === route)
      const answered = new Set(ofRoute.map(({ status }) => status))
      expect([...answered].sort()).toEqual([...route.answers].sort())
    },
  )

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
