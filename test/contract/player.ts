import { describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Case, Contract, Row } from './document.ts'
import { faultsOf } from './every-answer.ts'
import { type Answer, exchange, type Sent } from './exchange.ts'
import { beginSequence, fill } from './names.ts'
import { settled } from './pattern.ts'
import { promisedBy } from './promise.ts'
import { requestOf } from './request.ts'
import { type Answering, type Holder, plenty, type Stage } from './stage.ts'

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

/** `{last ETag}`, `{last deliveries.0.id}`: a header, or else a field of the body, of the latest answer of the case that has it. */
function ofLast(answers: readonly Answer[], name: string): string | undefined {
  if (!name.startsWith('last ')) return undefined
  const field = name.slice('last '.length)
  const at = (of: unknown, name: string) => (of as Record<string, unknown> | undefined)?.[name]
  for (const answer of answers.toReversed()) {
    const header = answer.headers.get(field.toLowerCase())
    const found = header ?? (field.split('.').reduce(at, bodyOf(answer)) as string | undefined)
    if (found !== undefined && found !== null) return found
  }
  return undefined
}

/** Sends the requests of rows, and compares the answers with what the rows say. */
export class Player {
  constructor(
    protected readonly contract: Contract,
    protected readonly stage: Stage,
  ) {}

  /** @param _to which server is asked, and in whose name */
  protected exchange(
    door: number | string,
    sent: Sent,
    _to: { server: Answering; holder: Holder | null },
  ): Promise<Answer> {
    return exchange(door, sent)
  }

  /** The holder of the valid credential that a request has, or null if it has none. */
  private holderOf({ target, headers }: Sent): Holder | null {
    const text = [target, ...headers.map(([, value]) => value)].join(' ')
    return [...this.stage.holders].find(([credential]) => text.includes(credential))?.[1] ?? null
  }

  /** The operator, who asks for Acme or for no organisation. */
  private operatorOf({ headers }: Sent): Holder {
    const isAcmes = headers.some(([, value]) => value === 'acme')
    return { limit: isAcmes ? plenty : null, server: this.stage.server, isUncounted: true }
  }

  /** Sends a row's request, as often as it says, and compares the last answer with the row. */
  async play(row: Row, person: string, answers: readonly Answer[]): Promise<Answer> {
    const { contract, stage } = this
    const sends = contract.callers.get(row.caller)
    if (!sends) throw new Error(`contract.md:${row.line}: there is no caller "${row.caller}"`)
    const namesAt = (time: number) => (name: string) =>
      ({ person, n: `${time}` })[name] ?? ofLast(answers, name)

    const send = async (time: number) => {
      const sent = requestOf(row, sends, stage.names, namesAt(time))
      const holder = row.caller.startsWith('operator') ? this.operatorOf(sent) : this.holderOf(sent)
      const server = holder?.server ?? stage.server
      const door = holder?.isUncounted ? stage.socket : Number(new URL(server.url).port)
      return { sent, holder, answer: await this.exchange(door, sent, { server, holder }) }
    }
    // All but the last at once, because the row is not about how they interleave.
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
}

/** Rows take this long only if the machine is busy. */
const defaultPatienceMs = 30_000

/** Declares a test for each case of a contract, by its sections. */
export function playCases(
  { cases }: Contract,
  player: () => Player,
  patienceMs = defaultPatienceMs,
): void {
  for (const [section, ofSection] of Map.groupBy(cases, ({ section }) => section)) {
    describe(section, () => {
      test.each(ofSection.map((one): [string, Case] => [one.name, one]))(
        '%s',
        async (_, { rows }) => {
          beginSequence()
          const person = `person-${rows[0]?.line}`
          const answers: Answer[] = []
          for (const row of rows) answers.push(await player().play(row, person, answers))
        },
        patienceMs,
      )
    })
  }
}
