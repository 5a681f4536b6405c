import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type Case, type Row, readContract } from './document.ts'
import { faultsOf, routeOf } from './every-answer.ts'
import { type Answer, exchange, type Sent } from './exchange.ts'
import { fill } from './names.ts'
import { settled } from './pattern.ts'
import { requestOf, valueIn } from './request.ts'
import { type Stage, setStage } from './stage.ts'

/** Runs every row of contract.md against the compiled binary. */

const contract = readContract(readFileSync(join(import.meta.dir, 'contract.md'), 'utf8'))

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
}, 60_000)
afterAll(() => stage?.place.close())

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
  // The last line ends in CRLF as all do, and nothing else ends a line.
  return text.endsWith('\r\n') ? text.slice(0, -2).split('\r\n') : [text, 'without a CRLF']
}

/** What the answer to one event alone is, by its fate. */
function fateOf(word: string): unknown {
  const base = { accepted: 0, duplicates: 0, rejected: 0, results: [] as unknown[], skewMs: null }
  if (word === 'kept') return { ...base, accepted: 1 }
  const result = { index: 0, id: '<any>' }
  if (word === 'duplicate') {
    return { ...base, duplicates: 1, results: [{ ...result, status: 'duplicate' }] }
  }
  const [, code, message] = /^(\w+): (.+)$/s.exec(word) ?? []
  if (!code) throw new Error(`"${word}" is no fate of an event`)
  return {
    ...base,
    rejected: 1,
    results: [{ ...result, status: 'rejected', code, message }],
    error: 'Every event was rejected',
    code: 'validation_failed',
  }
}

/** The body that a row promises, as a pattern; undefined where it promises none in particular. */
function promisedBody(row: Row, fillIn: (text: string) => string): unknown {
  const [first, ...more] = row.body.map(fillIn)
  const isError = row.status >= 400
  if (row.word !== null && contract.errors.has(row.word)) {
    return { error: contract.errors.get(row.word)?.sentence, code: row.word }
  }
  if (row.word !== null) return fateOf(fillIn(row.word))
  if (first === undefined) return undefined
  if (isError && /^(\/|\(body\))/.test(first)) {
    const details = [first, ...more].map(text => {
      const [, path, message] = /^(\S+) (.*)$/s.exec(text) ?? []
      return { path: path === '(body)' ? '' : path, message }
    })
    return { error: '<text>', code: 'validation_failed', details }
  }
  return first.startsWith('{') ? valueIn(first) : [first, ...more]
}

const promisedHeaders = (row: Row, fillIn: (text: string) => string) =>
  row.headers.map(span => {
    const [, absent, name = '', value = ''] = /^(-?)([\w-]+)(?:: (.*))?$/.exec(fillIn(span)) ?? []
    return { name, value: absent ? null : value }
  })

/** Sends a row's request and holds the answer against the row. */
async function play(row: Row, person: string, last: Answer | null): Promise<Answer> {
  const namesFor = (time: number) => (name: string) => {
    if (name === 'person') return person
    if (name === 'n') return `${time}`
    if (!name.startsWith('last ') || !last) return undefined
    const field = name.slice('last '.length)
    return last.headers.get(field.toLowerCase()) ?? (bodyOf(last) as Record<string, string>)[field]
  }
  const fillIn = (text: string) => fill(text, stage.names, namesFor(row.times))
  const sends = contract.callers.get(row.caller)
  if (!sends) throw new Error(`contract.md:${row.line}: no caller "${row.caller}"`)
  const send = (time: number) => {
    const sent = requestOf(row, sends, stage.names, namesFor(time))
    const holder = holderOf(sent)
    const port = Number(new URL((holder?.server ?? stage.server).url).port)
    return exchange(port, sent).then(answer => ({ sent, holder, answer }))
  }
  // All but the last at once: how they interleave is not what the row is about.
  const earlier = await Promise.all(Array.from({ length: row.times - 1 }, (_, i) => send(i + 1)))
  const { sent, holder, answer } = await send(row.times)
  const headers = promisedHeaders(row, fillIn)
  const body = promisedBody(row, fillIn)
  const given = {
    row: `contract.md:${row.line}`,
    status: answer.status,
    earlier: [...new Set(earlier.map(({ answer }) => answer.status))],
    headers: Object.fromEntries(
      headers.map(({ name }) => [name, answer.headers.get(name.toLowerCase()) ?? null]),
    ),
    // Where the status is another, the body says why.
    body: body === undefined && answer.status === row.status ? undefined : bodyOf(answer),
    faults: faultsOf(sent, answer, contract, holder),
  }
  const promised = {
    row: `contract.md:${row.line}`,
    status: row.status,
    earlier: earlier.length > 0 ? [row.status] : [],
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    body,
    faults: [],
  }
  expect(given).toEqual(settled(promised, given) as typeof given)
  return answer
}

/** Whose good credential a request has, if any. */
function holderOf(sent: Sent) {
  const text = [sent.target, ...sent.headers.map(([, value]) => value)].join(' ')
  for (const [credential, holder] of stage.holders) if (text.includes(credential)) return holder
  return null
}

for (const [section, cases] of Map.groupBy(contract.cases, ({ section }) => section)) {
  describe(section, () => {
    test.each(cases.map((one): [string, Case] => [one.name, one]))('%s', async (_, { rows }) => {
      const person = `person-${rows[0]?.line}`
      let last: Answer | null = null
      for (const row of rows) last = await play(row, person, last)
    })
  })
}

describe('the document', () => {
  const rows = contract.cases.flatMap(one => one.rows)
  const answered = new Map<string, Set<number>>()
  for (const { method, target, status } of rows) {
    const path = target.startsWith('//') ? target.slice(1) : `/api/v1${target}`
    // Ids are named in braces, which no path has.
    const sent = { method, target: path.replaceAll(/\{[^}]*\}/g, 'x'), headers: [] }
    const route = routeOf({ ...sent, body: null, isChunked: false }, contract.routes)
    if (!route || method === 'OPTIONS' || status === 405 || status >= 500) continue
    const key = `${route.method} ${route.path}`
    answered.set(key, (answered.get(key) ?? new Set()).add(status))
  }

  test.each(contract.routes.map(route => [`${route.method} ${route.path}`, route] as const))(
    '%s has a row for each status that it can answer, and none for another',
    (key, route) => {
      expect([...(answered.get(key) ?? [])].sort()).toEqual([...route.answers].sort())
    },
  )

  test('each caller and each error is of use to a row', () => {
    const callers = new Set(rows.map(({ caller }) => caller))
    expect([...contract.callers.keys()].filter(caller => !callers.has(caller))).toEqual([])
    const statuses = new Set(rows.map(({ status }) => status))
    const errors = [...contract.errors].filter(([, { status }]) => !statuses.has(status))
    expect(errors).toEqual([])
  })
})
