import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Field, InputField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { type Filters, useFilters } from '../shell/address.ts'
import { analyticsWords as words } from '../words/analytics.ts'
import { formatDay, formatShortDay } from '../words/time.ts'
import type { Question } from './question.ts'
import { addDays, dayIn, daysOf } from './zone.ts'

const presets = [7, 30, 90, 365] as const
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')]

/** The days and the time zone of the results. The button always shows both. */
export function RangePicker({
  question,
  also = {},
}: {
  question: Question
  /** Other filters that change together with the range. */
  also?: Filters
}) {
  const { setFilters } = useFilters()
  const { from, to, zone } = question
  const isSameYear = from.slice(0, 4) === to.slice(0, 4)
  const isWhole = daysOf(from, to) > 0
  const days = isWhole
    ? `${isSameYear ? formatShortDay(from) : formatDay(from)} – ${formatDay(to)}`
    : words.range
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
            {presets.map(count => (
              <button
                key={count}
                type="button"
                class="menu-item"
                onClick={() => {
                  const first = count === 30 ? null : addDays(dayIn(zone), 1 - count)
                  setFilters({ from: first, to: null, ...also })
                  close()
                }}
              >
                {words.presets[count]}
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
    <InputField label={label} of={value} type="date" required />
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
      <Field label={words.zone}>
        {wiring => (
          <select
            {...wiring}
            class="input select"
            value={zone.value}
            onChange={event => (zone.value = event.currentTarget.value)}
          >
            {(zones.includes(zone.value) ? zones : [zone.value, ...zones]).map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      <Button type="submit" look="primary">
        {words.apply}
      </Button>
    </form>
  )
}
