import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { DateField } from '../parts/date-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { ZoneField } from '../parts/pickers.tsx'
import { type Filters, useFilters } from '../shell/address.ts'
import { analyticsWords as words } from '../words/analytics.ts'
import { formatDays } from '../words/time.ts'
import { defaultDays, type Question } from './question.ts'
import { addDays, dayIn, daysOf } from './zone.ts'

/** Ranges that are often wanted: their names, first and last days. */
function presetsOf(today: string): (readonly [name: string, from: string, to: string])[] {
  const ago = (days: number) => addDays(today, -days)
  return [
    [words.today, today, today],
    [words.yesterday, ago(1), ago(1)],
    ...([7, 30, 90, 365] as const).map(
      days => [words.presets[days], ago(days - 1), today] as const,
    ),
    [words.thisMonth, `${today.slice(0, 8)}01`, today],
  ]
}

/** The days and the time zone of the results. The button always shows both. */
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
  const days = daysOf(from, to) > 0 ? formatDays(from, to) : words.range
  return (
    <Menu
      label={
        <>
          <Icon name="calendar" />
          <span>{days}</span>
          <span class="zone" title={zone}>
            {zone}
          </span>
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
                  const isUsual = name === words.presets[defaultDays]
                  setFilters({
                    from: isUsual ? null : first,
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
  const day = (label: string, value: typeof from) => (
    <DateField
      label={label}
      value={value.value}
      onChange={chosen => (value.value = chosen)}
      isRequired
    />
  )
  return (
    <form
      class="custom-range"
      onSubmit={event => {
        event.preventDefault()
        onChoose({ from: from.value, to: to.value, tz: zone.value })
      }}
    >
      {day(words.from, from)}
      {day(words.to, to)}
      <ZoneField label={words.zone} value={zone.value} onChange={chosen => (zone.value = chosen)} />
      <Button type="submit" look="primary">
        {words.apply}
      </Button>
    </form>
  )
}
