import { hourMs } from '../../../core/time/durations.ts'
import type { IdentityAnswer } from '../../../modules/organisations/schema.ts'
import { defaultZone, momentHere } from '../analytics/zone.ts'
import { BarChart, type Slot } from '../charts/bar-chart.tsx'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { installationWords } from '../words/installation.ts'
import { formatClock, formatCount, formatShare } from '../words/time.ts'

const words = installationWords.hours
type Hour = IdentityAnswer['hours'][number]

const hoursShown = 24

/** The calls of an hour by the outcome of the hash check. */
const countsOf = ({ valid, outdated, invalid, missing }: Hour) => ({
  proven: valid + outdated,
  unproven: missing,
  wrong: invalid,
})

const kinds = ['proven', 'unproven', 'wrong'] as const

const allOf = (hour: Hour) => hour.valid + hour.outdated + hour.invalid + hour.missing

/** The last 24 hours in order, including this one. An hour without calls that named a user is empty. */
function slotsOf(hours: readonly Hour[], now: number): Slot[] {
  const byStart = new Map(hours.map(hour => [Date.parse(hour.at), hour]))
  const last = Math.floor(now / hourMs) * hourMs
  return Array.from({ length: hoursShown }, (_, i) => {
    const at = last - (hoursShown - 1 - i) * hourMs
    const hour = byStart.get(at)
    const moment = new Date(at).toISOString()
    const counts = hour && countsOf(hour)
    return {
      key: moment,
      label: formatClock(moment, defaultZone()),
      title: momentHere(moment),
      numbers: counts
        ? kinds.map(kind => [words[kind], formatCount(counts[kind]), kind] as const)
        : [],
      parts: counts ? kinds.map(kind => counts[kind]) : null,
      isOpen: at === last && counts !== undefined,
    }
  })
}

const columns: Column<Hour>[] = [
  {
    name: words.hour,
    isTitle: true,
    cell: ({ at }) => momentHere(at),
  },
  ...kinds.map(
    (kind): Column<Hour> => ({
      name: words.heads[kind],
      isNumber: true,
      cell: hour => formatCount(countsOf(hour)[kind]),
    }),
  ),
  {
    name: words.share,
    isNumber: true,
    cell: hour => formatShare(countsOf(hour).proven, allOf(hour)),
  },
]

/** Shows for each hour whether calls that named a user proved who it was. */
export function IdentityHours({ of: { hours } }: { of: IdentityAnswer }) {
  const sums = kinds.map(kind => hours.reduce((sum, hour) => sum + countsOf(hour)[kind], 0))
  const told = sums.map(formatCount) as [string, string, string]
  return (
    <Part
      title={words.title}
      beside={
        <ul class="legend">
          {kinds.map(kind => (
            <li key={kind} class={`key-${kind}`}>
              {words[kind]}
            </li>
          ))}
        </ul>
      }
    >
      {hours.length === 0 ? (
        <p class="hint">{words.none}</p>
      ) : (
        <>
          <BarChart
            height={128}
            slots={slotsOf(hours, Date.now())}
            classes={kinds}
            name={words.picture(...told)}
          />
          <details class="as-table">
            <summary>Show as a table</summary>
            <Table
              caption={words.caption}
              columns={columns}
              rows={hours.toReversed()}
              keyOf={({ at }) => at}
            />
          </details>
          <p class="footnote">{words.zone(defaultZone())}</p>
        </>
      )}
    </Part>
  )
}
