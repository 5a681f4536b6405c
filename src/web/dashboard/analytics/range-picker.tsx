import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { DateField } from '../parts/date-field.tsx'
import { formatDays, zoneName } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { ZoneField } from '../parts/pickers.tsx'
import { type Filters, useFilters } from '../shell/address.ts'
import { defaultDays, type Question } from './question.ts'
import { addDays, dayIn, daysOf } from './zone.ts'

/** The API counts no more at once. */
const maxDays = 400

const defaultName = `Last ${defaultDays} days`

/** Ranges that are often wanted: their names, first and last days. */
function presetsOf(today: string): (readonly [name: string, from: string, to: string])[] {
  const ago = (days: number) => addDays(today, -days)
  return [
    ['Today', today, today],
    ['Yesterday', ago(1), ago(1)],
    ['Last 7 days', ago(6), today],
    [defaultName, ago(defaultDays - 1), today],
    ['Last 90 days', ago(89), today],
    ['Last 12 months', ago(364), today],
    ['This month', `${today.slice(0, 8)}01`, today],
  ]
}

/** Why a range cannot be shown; undefined if it can. */
function problemOf(from: string, to: string): string | undefined {
  const days = daysOf(from, to)
  if (from > to) return 'The last day must not be before the first day.'
  return days > maxDays ? `At most ${maxDays} days. These are ${days}.` : undefined
}

/** The days of the page, and the time zone that they are in. The button always shows both. */
export function RangePicker({
  question,
  also = {},
}: {
  question: Question
  /** Other filters that change together with the range. */
  also?: Filters
}) {
  const { filters, setFilters } = useFilters()
  const { from, to, zone } = question
  const today = dayIn(zone)
  return (
    <Menu
      label={
        <>
          <Icon name="calendar" />
          <span>{daysOf(from, to) > 0 ? formatDays(from, to) : 'Period'}</span>
          <span class="zone soft ellipsis">{zoneName(zone)}</span>
          <Icon name="down" />
        </>
      }
    >
      {close => (
        <div class="range-panel">
          <div class="presets">
            {presetsOf(today).map(([name, first, last]) => (
              <button
                key={name}
                type="button"
                class="menu-item"
                aria-pressed={first === from && last === (filters.to ?? today)}
                onClick={() => {
                  setFilters({
                    from: name === defaultName ? null : first,
                    to: last === today ? null : last,
                    ...also,
                  })
                  close()
                }}
              >
                {name}
              </button>
            ))}
          </div>
          <Custom
            key={`${from}${to}${zone}`}
            question={question}
            onChoose={range => {
              setFilters({ ...range, ...also })
              close()
            }}
          />
        </div>
      )}
    </Menu>
  )
}

function Custom({ question, onChoose }: { question: Question; onChoose(range: Filters): void }) {
  const from = useSignal(question.from)
  const to = useSignal(question.to)
  const zone = useSignal(question.zone)
  const problem = problemOf(from.value, to.value)
  return (
    <form
      class="custom-range stack gap-3"
      onSubmit={event => {
        event.preventDefault()
        if (!problem) onChoose({ from: from.value, to: to.value, tz: zone.value })
      }}
    >
      <DateField
        label="From"
        value={from.value}
        onChange={chosen => (from.value = chosen)}
        isRequired
      />
      <DateField
        label="To"
        value={to.value}
        onChange={chosen => (to.value = chosen)}
        problem={problem}
        isProblemOld
        isRequired
      />
      <ZoneField
        label="Time zone of days"
        value={zone.value}
        onChange={chosen => (zone.value = chosen)}
      />
      <Button type="submit" look="primary">
        Apply
      </Button>
    </form>
  )
}
