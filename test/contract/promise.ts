import { type Contract, errorSaid, type Row } from './document.ts'
import { valueIn } from './request.ts'

/** What a row promises about the answer, as a pattern of the same shape as the given answer. */
export interface Promised {
  headers: Record<string, string | null>
  /** Undefined if no particular body is promised. */
  body: unknown
}

/** The answer to a single event, by its result: `kept`, `duplicate` or `code: message`. */
function bodyOfResult(result: string): unknown {
  const counts = { accepted: 0, duplicates: 0, rejected: 0, results: [], skewMs: null }
  if (result === 'kept') return { ...counts, accepted: 1 }
  const event = { index: 0, id: '<any>' }
  if (result === 'duplicate') {
    return { ...counts, duplicates: 1, results: [{ ...event, status: 'duplicate' }] }
  }
  const [, code, message] = /^(\w+): (.+)$/.exec(result) ?? []
  if (!code) throw new Error(`"${result}" is neither an error's code nor an event's result`)
  return {
    ...counts,
    rejected: 1,
    results: [{ ...event, status: 'rejected', code, message }],
    error: 'Every event was rejected',
    code: 'validation_failed',
  }
}

/** `/userId Is required` as a detail; `(body)` is the pointer to the whole. */
function detailIn(span: string) {
  const [, path, message] = /^(\S+) (.*)$/.exec(span) ?? []
  return { path: path === '(body)' ? '' : path, message }
}

function bodyOf(row: Row, contract: Contract, fillIn: (text: string) => string): unknown {
  const [first, ...more] = row.body.map(fillIn)
  if (row.word !== null) {
    const known = errorSaid(contract, row.word, row.target.startsWith('/manage/'))
    return known ? { error: known.sentence, code: row.word } : bodyOfResult(fillIn(row.word))
  }
  if (first === undefined) return undefined
  if (/^(?:\/|\(body\) )/.test(first)) {
    const { sentence: error } = contract.errors.get('validation_failed') ?? {}
    return { error, code: 'validation_failed', details: [first, ...more].map(detailIn) }
  }
  // JSON is one span. CSV has one span for each line.
  return first.startsWith('{') ? valueIn(first) : [first, ...more]
}

function headersOf(row: Row, fillIn: (text: string) => string): Promised['headers'] {
  return Object.fromEntries(
    row.headers.map(span => {
      const [, absent, name, value = ''] = /^(-?)([\w-]+)(?:: (.*))?$/.exec(fillIn(span)) ?? []
      return [name, absent ? null : value]
    }),
  )
}

/** @param fillIn replaces the names in braces */
export const promisedBy = (
  row: Row,
  contract: Contract,
  fillIn: (text: string) => string,
): Promised => ({ headers: headersOf(row, fillIn), body: bodyOf(row, contract, fillIn) })
