/**
 * Reads contract.md: its tables become routes, callers, sentences of errors and cases to run. The
 * notation is explained at the top of that file.
 */

/** A route as the document describes it. */
export interface RouteLine {
  method: string
  /** Below the host, with `{flow_id}` or `{step_id}`. */
  path: string
  caller: string
  bucket: string
  limit: number
  /** Every status that the route can answer. */
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
  /** How often the request is sent; what is promised besides the status is of the last answer. */
  times: number
  status: number
  headers: readonly string[]
  body: readonly string[]
  /** An error's code, or the fate of a single event, with what is said of it. */
  word: string | null
}

/** Rows that are run one after the other: a row alone, or with the ones below it marked "then". */
export interface Case {
  name: string
  section: string
  rows: readonly Row[]
}

export interface Contract {
  routes: readonly RouteLine[]
  /** What each caller sends: headers, and query parameters with a `?` in front. */
  callers: ReadonlyMap<string, readonly string[]>
  /** The status and the sentence that belong to each code of an error. */
  errors: ReadonlyMap<string, { status: number; sentence: string }>
  cases: readonly Case[]
}

interface Table {
  line: number
  section: string
  /** The "Every row" sentence above the table. */
  common: string
  columns: readonly string[]
  rows: readonly { line: number; cells: readonly string[] }[]
}

const codeSpan = /`([^`]*)`/g

const spansIn = (cell: string) => [...cell.matchAll(codeSpan)].map(([, span = '']) => span)

const plainIn = (cell: string) => cell.replaceAll(codeSpan, '').trim()

const cellsIn = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

function tablesIn(text: string): Table[] {
  const tables: (Table & { rows: { line: number; cells: string[] }[] })[] = []
  let section = ''
  let common = ''
  let open: (typeof tables)[number] | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (/^#+ /.test(line)) {
      section = line.replace(/^#+ /, '')
      common = ''
    }
    if (line.startsWith('Every row: ')) common = line
    if (!line.startsWith('|')) open = null
    else if (!open) {
      open = { line: index + 1, section, common, columns: cellsIn(line), rows: [] }
      tables.push(open)
    } else if (!/^[|\s:-]+$/.test(line)) {
      const cells = cellsIn(line)
      if (cells.length !== open.columns.length) {
        throw new Error(`contract.md:${index + 1}: ${cells.length} of ${open.columns.length} cells`)
      }
      open.rows.push({ line: index + 1, cells })
    }
  }
  return tables
}

/** What is said once above a table, in place of columns that it does not have. */
const everyRow =
  /^Every row:(?: (`[^`]+`))?(?: by ([^,→]+?))?(?:, ((?:`[^`]+` ?)+))?(?: → (\d+))?\.$/

/** A row's cells by column, with what "Every row" says in place of columns that are not there. */
function fieldsOf(table: Table, cells: readonly string[]) {
  const common = everyRow.exec(table.common || 'Every row:.')
  if (!common) throw new Error(`contract.md:${table.line}: not understood: ${table.common}`)
  const [, request = '', caller = '', input = '', status = ''] = common
  const own = Object.fromEntries(table.columns.map((column, i) => [column, cells[i] ?? '']))
  return {
    ...{ request, caller, status, headers: '', body: own.fate ?? '', ...own },
    input: [own.input, input].join(),
  }
}

/** What is asked for in a cell of a table in which each column is another caller or method. */
const variantsOf = (table: Table) =>
  table.columns.filter(column => !columnNames.has(column)).map(column => column.replaceAll('`', ''))

const columnNames = new Set([
  'request',
  'caller',
  'input',
  'status',
  'headers',
  'body',
  'event',
  'fate',
])

/** The fate of a single event as a status. */
const statusOfEvent = (word: string) => {
  if (word === '401') return 401
  return word === 'kept' || word === 'duplicate' ? 202 : 422
}

function rowOf(line: number, fields: ReturnType<typeof fieldsOf> & { event?: string }): Row {
  const [request = ''] = spansIn(fields.request)
  const [method = '', target = ''] = request.split(/ (.*)/)
  const [, times = '1'] = /×(\d+)/.exec(plainIn(fields.request)) ?? []
  const event = fields.event === undefined ? [] : spansIn(fields.event)
  const word = plainIn(fields.body) || null
  const status = fields.status || (fields.event === undefined ? '' : statusOfEvent(word ?? ''))
  if (!/^\d{3}$/.test(`${status}`)) throw new Error(`contract.md:${line}: no status`)
  if (!/^[A-Z]+$/.test(method)) throw new Error(`contract.md:${line}: no request`)
  return {
    line,
    method,
    target,
    caller: fields.caller.replaceAll('`', '').trim(),
    input: [...event.map(text => `{events: [${text}]}`), ...spansIn(fields.input)],
    times: Number(times),
    status: Number(status),
    headers: spansIn(fields.headers),
    body: spansIn(fields.body),
    word: word === '401' ? null : word,
  }
}

/** A row's own words, cut to what tells it from its neighbours. */
function nameOf({ line, method, target, caller, input, status }: Row): string {
  const words = [`${method} ${target}`, `by ${caller}`, ...input].join(' ')
  return `contract.md:${line}  ${words.length > 150 ? `${words.slice(0, 149)}…` : words} → ${status}`
}

function casesIn(table: Table): Case[] {
  const variants = variantsOf(table)
  const rows = table.rows.flatMap(({ line, cells }): { row: Row; isThen: boolean }[] => {
    const isThen = /^then /.test(cells[0] ?? '')
    const fields = fieldsOf(table, cells)
    if (variants.length === 0) return [{ row: rowOf(line, fields), isThen }]
    return variants.flatMap((variant, i) => {
      const status = cells[table.columns.length - variants.length + i] ?? ''
      const isMethod = /^[A-Z]+$/.test(variant)
      const request = isMethod ? fields.request.replace('`', `\`${variant} `) : fields.request
      // Which methods a path takes is what a 405 has to say.
      const headers = isMethod && status !== '405' ? '' : fields.headers
      const caller = isMethod ? fields.caller : variant
      return { row: rowOf(line, { ...fields, request, headers, caller, status }), isThen: false }
    })
  })
  const cases: { name: string; section: string; rows: Row[] }[] = []
  for (const { row, isThen } of rows) {
    if (isThen) cases.at(-1)?.rows.push(row)
    else cases.push({ name: nameOf(row), section: table.section, rows: [row] })
  }
  return cases
}

/** A cell of a table by the name of its column. */
const cellsBy = (table: Table) =>
  table.rows.map(
    ({ cells }) =>
      (name: string) =>
        (cells[table.columns.indexOf(name)] ?? '').trim(),
  )

/** @throws Error where a table is none of the known kinds, or a row lacks something */
export function readContract(text: string): Contract {
  const tables = tablesIn(text)
  const withFirst = (column: string) => tables.filter(({ columns }) => columns[0] === column)
  const rest = tables.filter(({ columns }) => !['route', 'caller', 'code'].includes(columns[0]!))
  return {
    routes: withFirst('route').flatMap(table =>
      cellsBy(table).map(cell => {
        const [method = '', path = ''] = (spansIn(cell('route'))[0] ?? '').split(' ')
        return {
          method,
          path,
          caller: cell('caller'),
          bucket: cell('bucket'),
          limit: Number(cell('limit')),
          answers: cell('answers').split(' ').map(Number),
        }
      }),
    ),
    callers: new Map(
      withFirst('caller').flatMap(table =>
        cellsBy(table).map(cell => [cell('caller').replaceAll('`', ''), spansIn(cell('sends'))]),
      ),
    ),
    errors: new Map(
      withFirst('code').flatMap(table =>
        cellsBy(table).map(cell => [
          spansIn(cell('code'))[0] ?? '',
          { status: Number(cell('status')), sentence: cell('sentence') },
        ]),
      ),
    ),
    cases: rest.flatMap(casesIn),
  }
}
