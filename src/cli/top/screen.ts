import { type Colour, painted } from '../../core/text/colour.ts'
import { onOneLine } from '../../core/text/unseen.ts'
import { columns } from '../../runtime/tally.ts'
import { sizeOf } from '../output.ts'
import type { Figures } from './figures.ts'

/** Where it is shown. */
export interface Screen {
  columns: number
  /** Lines that there is room for; null for any number. */
  rows: number | null
  isColoured: boolean
}

const number = (value: number) =>
  value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en')
    : value.toFixed(value < 0.1 ? 2 : 1)

const rate = (value: number) => `${number(value)}/s`
const share = (part: number, whole: number) => (whole === 0 ? 0 : (part / whole) * 100)

function time(seconds: number | null): string {
  if (seconds === null) return '–'
  if (seconds === Number.POSITIVE_INFINITY) return 'over all'
  return seconds < 1 ? `≤ ${number(seconds * 1_000)} ms` : `≤ ${number(seconds)} s`
}

function span(seconds: number): string {
  const [days, hours, minutes] = [seconds / 86_400, (seconds / 3_600) % 24, (seconds / 60) % 60]
  if (days >= 1) return `${Math.floor(days)} d ${Math.floor(hours)} h`
  if (hours >= 1) return `${Math.floor(hours)} h ${Math.floor(minutes)} min`
  return minutes >= 1 ? `${Math.floor(minutes)} min` : `${seconds} s`
}

/** Part of a line, in a colour where something is to be seen. */
type Part = readonly [text: string, colour?: Colour | false]

/** A line a thing, then a table of the organisations, cut to the screen. */
export function linesOf(figures: Figures, url: string, screen: Screen): string[] {
  const head: Part[][] = [title(figures, url), ...body(figures)]
  const table = organisationTable(figures, screen.columns)
  const lines = [...head, [], ...table].map(parts => fitted(parts, screen))
  return screen.rows === null ? lines : lines.slice(0, screen.rows)
}

const title = ({ version, ready, upSeconds }: Figures, url: string): Part[] => [
  [`cairn ${version ?? '?'}`, 'bold'],
  [`  ${new URL(url).host}  `],
  ready ? ['ready', 'green'] : ['NOT READY (cairn doctor says why)', 'red'],
  [`  up ${span(upSeconds)}`],
]

function body(figures: Figures): Part[][] {
  const { requests, answers, events, commits, buffer, disk, process, threads } = figures
  const { accepted = 0, duplicate = 0, ...refused } = events
  const rejected = Object.values(refused).reduce((sum, n) => sum + n, 0)
  const full = share(buffer.events, buffer.limitEvents)
  const limited = Object.entries(figures.limitedByBucket).filter(([, n]) => n > 0)
  return [
    [
      ['requests  '],
      [rate(requests.rate), 'bold'],
      [`  429 ${rate(requests.limited)}`, requests.limited > 0 && 'yellow'],
      [`  401 ${rate(requests.unauthorized)}`],
      [`  503 ${rate(requests.overloaded)}`, requests.overloaded > 0 && 'red'],
      [`  500 ${rate(requests.failed)}`, requests.failed > 0 && 'red'],
    ],
    [[`answers   p50 ${time(answers.p50Seconds)}  p99 ${time(answers.p99Seconds)}`]],
    [
      ['events    '],
      [`${rate(accepted)} accepted`, 'bold'],
      [`  ${rate(duplicate)} duplicate`],
      [`  ${rate(rejected)} rejected`, rejected > 0 && 'yellow'],
    ],
    [
      [`commits   ${rate(commits.rate)}`],
      [`  p50 ${time(commits.p50Seconds)}  p99 ${time(commits.p99Seconds)}`],
      [commits.events === null ? '' : `  ${number(commits.events)} events each`],
    ],
    [
      [`buffer    ${number(buffer.events)} of ${number(buffer.limitEvents)} events`],
      [` (${number(full)} %)`, full >= 50 && 'red'],
      buffer.refusing ? ['  storage REFUSES writes', 'red'] : [''],
      [`  ${sizeOf(buffer.bytes)} of ${sizeOf(buffer.limitBytes)}`],
    ],
    [
      [`disk      ${sizeOf(disk.databaseBytes)} database  ${sizeOf(disk.walBytes)} log`],
      [disk.freeBytes === null ? '' : `  ${sizeOf(disk.freeBytes)} free`],
    ],
    [
      [`process   ${process.cores.toFixed(2)} cores  ${sizeOf(process.memoryBytes)} memory`],
      [process.openFiles === null ? '' : `  ${process.openFiles} open files`],
      [
        `  ${threads.up} of ${threads.configured} threads`,
        threads.up < threads.configured && 'red',
      ],
    ],
    ...(limited.length === 0
      ? []
      : [
          [
            [`limited   ${limited.map(([bucket, n]) => `${bucket} ${rate(n)}`).join('  ')}`],
          ] as Part[],
        ]),
  ]
}

const headings = ['requests/s', '429/s', 'accepted/s', 'duplicate/s', 'rejected/s']

function organisationTable({ organisations }: Figures, width: number): Part[][] {
  if (organisations.length === 0) return [[['no organisation sends anything now', 'dim']]]
  const cells = organisations.map(one => columns.map(column => one[column]))
  const numbers = cells.map(row => row.map((n, i) => number(n).padStart(headings[i]?.length ?? 0)))
  const numbersWidth = headings.join('  ').length
  const room = Math.max(8, width - numbersWidth - 2)
  const longest = Math.max('organisation'.length, ...organisations.map(({ slug }) => slug.length))
  const nameWidth = Math.min(longest, room)
  const name = (text: string) =>
    (text.length > nameWidth ? `${text.slice(0, nameWidth - 1)}…` : text).padEnd(nameWidth)
  const header = [name('organisation'), ...headings].join('  ').toUpperCase()
  return [
    [[header, 'bold']],
    ...organisations.map(({ slug, limited, rejected }, i): Part[] => [
      [[name(slug), ...(numbers[i] ?? [])].join('  '), limited + rejected > 0 && 'yellow'],
    ]),
  ]
}

/** Cut at the edge of the screen, so that no line takes two. */
function fitted(parts: readonly Part[], { columns, isColoured }: Screen): string {
  let left = columns
  return parts
    .map(([text, colour]) => {
      const shown = onOneLine(text).slice(0, left)
      left -= shown.length
      return colour && isColoured && shown !== '' ? painted(shown, colour) : shown
    })
    .join('')
    .trimEnd()
}
