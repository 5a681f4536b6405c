import { plainIn, recordsOf, spansIn, type Table, tablesIn } from './tables.ts'

/**
 * Reads contract.md: its tables become routes, callers, sentences of errors and cases to run. The
 * notation is explained at the top of that file.
 */

/** A route as the document describes it. */
export interface RouteLine {
  method: string
  /** With `{flow_id}` or `{step_id}`. */
  path: string
  caller: string
  bucket: string
  /** The default limit, requests a minute. */
  limit: number
  /** Every status that the route can answer, except for 405 and the server's own faults. */
  answers: readonly number[]
}

/** One request and the answer that the document promises. */
export interface Row {
  /** Of contract.md, counted from 1. */
  line: number
  method: string
  /** Below `/api/v1`, or from the root where it begins with `//`. */
  target: string
  caller: string
  input: readonly string[]
  /** How often the request is sent. All answers have the status; the other promises are about the last one. */
  times: number
  status: number
  headers: readonly string[]
  body: readonly string[]
  /** An error's code, or the result of a single event. Null if the row gives a whole body, or none. */
  word: string | null
}

/** Rows that run one after the other: a single row, or a row and those below it that are marked "then". */
export interface Case {
  name: string
  section: string
  rows: readonly Row[]
}

type Errors = ReadonlyMap<string, { status: number; sentence: string }>

export interface Contract {
  routes: readonly RouteLine[]
  /** What each caller sends: headers, and query parameters with a `?` in front. */
  callers: ReadonlyMap<string, readonly string[]>
  /** The status and the sentence that belong to each code of an error. */
  errors: Errors
  /** The same for the management routes, for codes for which they say something else. */
  managementErrors: Errors
  cases: readonly Case[]
}

/** The columns of tables of rows. Any other column is a caller or a method, and its cells are statuses. */
const columns = [
  'request',
  'caller',
  'input',
  'event',
  'status',
  'headers',
  'body',
  'result',
] as const

type Fields = Record<(typeof columns)[number], string>

const isColumn = (name: string) => (columns as readonly string[]).includes(name)

const everyRow =
  /^Every row:(?: (?<request>`[^`]+`))?(?: by (?<caller>.+?))?(?: → (?<status>\d+))?\.$/

/** A row's cells by column. "Every row" fills in for the columns that the table does not have. */
function fieldsOf(table: Table, cells: readonly string[]): Fields {
  const common = everyRow.exec(table.everyRow || 'Every row:.')
  if (!common) throw new Error(`contract.md:${table.line}: not understood: ${table.everyRow}`)
  return Object.fromEntries(
    columns.map(column => {
      const index = table.columns.indexOf(column)
      return [column, (index < 0 ? common.groups?.[column] : cells[index]) ?? '']
    }),
  ) as Fields
}

/** The status that belongs to the result of a single event. */
function statusOfResult(result: string): string {
  if (result === '') return ''
  if (result === '401') return result
  return result === 'kept' || result === 'duplicate' ? '202' : '422'
}

function rowOf(line: number, fields: Fields): Row {
  const [, method = '', target = ''] = /^(\S+) (.*)$/.exec(spansIn(fields.request)[0] ?? '') ?? []
  const status = fields.status || statusOfResult(fields.result)
  if (!/^[A-Z]+$/.test(method)) throw new Error(`contract.md:${line}: there is no request`)
  if (!/^\d{3}$/.test(status)) throw new Error(`contract.md:${line}: there is no status`)
  const word = plainIn(fields.body) || fields.result
  return {
    line,
    method,
    target,
    caller: fields.caller.replaceAll('`', ''),
    input: [
      ...spansIn(fields.event).map(event => `{events: [${event}]}`),
      ...spansIn(fields.input),
    ],
    times: Number(/×(\d+)/.exec(plainIn(fields.request))?.[1] ?? 1),
    status: Number(status),
    headers: spansIn(fields.headers),
    body: spansIn(fields.body),
    word: word === '' || word === status ? null : word,
  }
}

/** The rows that a line stands for: one, or one for each caller or method that has a column. */
function rowsOf(table: Table, line: number, cells: readonly string[]): Row[] {
  const fields = fieldsOf(table, cells)
  const variants = table.columns.flatMap((name, index) =>
    isColumn(name) ? [] : [{ name: name.replaceAll('`', ''), status: cells[index] ?? '' }],
  )
  if (variants.length === 0) return [rowOf(line, fields)]
  return variants.map(({ name, status }) => {
    if (!/^[A-Z]+$/.test(name)) return rowOf(line, { ...fields, caller: name, status })
    const request = fields.request.replace('`', `\`${name} `)
    // The headers in such a table are for the methods that a path does not accept.
    const headers = status === '405' ? fields.headers : ''
    return rowOf(line, { ...fields, request, headers, status })
  })
}

const maxNameLength = 150

function nameOf({ line, method, target, caller, input, status }: Row): string {
  const words = [method, target, 'by', caller, ...input].join(' ')
  const shown = words.length > maxNameLength ? `${words.slice(0, maxNameLength - 1)}…` : words
  return `contract.md:${line}  ${shown} → ${status}`
}

function casesIn(table: Table): Case[] {
  const cases: { name: string; section: string; rows: Row[] }[] = []
  for (const { line, cells } of table.rows) {
    const rows = rowsOf(table, line, cells)
    if (!cells[0]?.startsWith('then ')) {
      cases.push(...rows.map(row => ({ name: nameOf(row), section: table.section, rows: [row] })))
      continue
    }
    const before = cases.at(-1)
    if (!before) throw new Error(`contract.md:${line}: "then" without a row before`)
    before.rows.push(...rows)
  }
  return cases
}

/** What a table contains, by its first column. */
const firstColumns = {
  rows: ['request', 'input', 'event'],
  facts: ['route', 'caller', 'code', 'code of management'],
  /** For the reader alone. */
  words: ['prefix'],
}

/** @throws Error if a row or a table cannot be understood, with its line */
export function readContract(text: string): Contract {
  const tables = tablesIn(text)
  const known = Object.values(firstColumns).flat()
  const strange = tables.find(({ columns: [first = ''] }) => !known.includes(first))
  if (strange) throw new Error(`contract.md:${strange.line}: a table of ${strange.columns[0]}?`)
  const recordsBy = (column: string) =>
    tables.filter(({ columns }) => columns[0] === column).flatMap(recordsOf)
  const errorsBy = (column: string): Errors =>
    new Map(
      recordsBy(column).map(cell => [
        spansIn(cell(column))[0] ?? '',
        { status: Number(cell('status')), sentence: cell('sentence') },
      ]),
    )
  return {
    routes: recordsBy('route').map(cell => {
      const [method = '', path = ''] = spansIn(cell('route'))[0]?.split(' ') ?? []
      return {
        method,
        path,
        caller: cell('caller'),
        bucket: cell('bucket'),
        limit: Number(cell('limit')),
        answers: cell('answers').split(' ').map(Number),
      }
    }),
    callers: new Map(
      recordsBy('caller').map(cell => [cell('caller').replaceAll('`', ''), spansIn(cell('sends'))]),
    ),
    errors: errorsBy('code'),
    managementErrors: errorsBy('code of management'),
    cases: tables
      .filter(({ columns: [first = ''] }) => firstColumns.rows.includes(first))
      .flatMap(casesIn),
  }
}

/** What an error says, which may be something else for management routes. */
export const errorSaid = (contract: Contract, code: string, isManagement: boolean) =>
  (isManagement ? contract.managementErrors.get(code) : undefined) ?? contract.errors.get(code)
