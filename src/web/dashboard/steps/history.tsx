import { StackedBars } from '../charts/stacked-bars.tsx'
import { Badge } from '../parts/badge.tsx'
import { Icon } from '../parts/icon.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { addressOf } from '../shell/address.ts'
import { analyticsWords } from '../words/analytics.ts'
import { flowWords } from '../words/flows.ts'
import { historyWords as words } from '../words/health-history.ts'
import { formatCount, formatDay, formatShare, formatShortDay } from '../words/time.ts'
import { type CheckedStep, type StepCheck, toneOfState } from './health.ts'
import { changesOf, foundOf, type HistoryDay, type HistoryRange, slotsOf } from './history-days.ts'

const kinds = ['found', 'makeshift', 'misses'] as const

/** The address from which the browser downloads the days of all steps of a flow. */
const csvAddress = (flowKey: string, timezone: string): string =>
  addressOf(['flows', flowKey, 'health.csv'], { timezone })

const counted = (kind: 'all' | (typeof kinds)[number], name: string): Column<HistoryDay> => ({
  name,
  isNumber: true,
  cell: day => formatCount(foundOf(day)[kind]),
})

const columnsOf = (definitions: StepCheck['definitions']): Column<HistoryDay>[] => [
  {
    name: words.heads.day,
    isTitle: true,
    cell: ({ date, complete }) => (complete ? formatDay(date) : words.open(formatDay(date))),
  },
  {
    name: words.heads.state,
    means: definitions['history.state'],
    cell: ({ state }) => <Badge tone={toneOfState[state]}>{flowWords.health[state]}</Badge>,
  },
  counted('found', words.heads.found),
  counted('makeshift', words.heads.makeshift),
  counted('misses', words.heads.misses),
  {
    ...counted('all', words.heads.people),
    means: definitions['history.people'],
  },
  {
    name: words.heads.share,
    isNumber: true,
    cell: day => formatShare(foundOf(day).all - foundOf(day).misses, foundOf(day).all),
  },
  {
    name: words.heads.versions,
    means: definitions['history.versions'],
    isNumber: true,
    cell: ({ versions }) => versions.join(', '),
  },
]

/** Says what the chart shows, in a sentence. */
function sayHistory(days: readonly HistoryDay[]): string {
  const changes = changesOf(days).filter(({ before }) => before !== null)
  const said = changes.map(({ state, date }) =>
    words.change(flowWords.health[state].toLowerCase(), formatShortDay(date)),
  )
  return words.picture(days.length, said.length > 0 ? `${said.join(', ')}.` : words.noChange)
}

/** How a step did in the last 30 days, and when its state changed. */
export function History({
  step,
  title,
  range,
  definitions,
}: {
  step: CheckedStep
  title: string
  range: HistoryRange
  definitions: StepCheck['definitions']
}) {
  const days = step.history ?? []
  const isOpen = days.some(({ complete }) => !complete)
  return (
    <div data-history>
      <div class="part-head">
        <h3>
          <Tip text={definitions.history}>{words.title}</Tip>
        </h3>
        {days.length > 0 && (
          <div class="with-switch">
            <ul class="legend">
              {kinds
                .filter(kind => days.some(day => foundOf(day)[kind] > 0))
                .map(kind => (
                  <li key={kind} class={`key-${kind}`}>
                    {words[kind]}
                  </li>
                ))}
              {isOpen && <li class="key-hatch">{words.today}</li>}
            </ul>
            <a
              class="file-link"
              href={csvAddress(step.flow, range.timezone)}
              download
              aria-label={words.csvOf}
            >
              <Icon name="download" />
              {words.csv}
            </a>
          </div>
        )}
      </div>
      {days.length === 0 ? (
        <p class="hint">{words.none}</p>
      ) : (
        <>
          <StackedBars
            slots={slotsOf(days, range)}
            classes={kinds.map(kind => `of-${kind}`)}
            name={sayHistory(days)}
          />
          <details class="as-table">
            <summary>{analyticsWords.asTable}</summary>
            <Table
              caption={words.caption(title)}
              columns={columnsOf(definitions)}
              rows={days.toReversed()}
              keyOf={({ date }) => date}
            />
          </details>
        </>
      )}
    </div>
  )
}
