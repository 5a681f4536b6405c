import { Check } from '../parts/choice.tsx'
import { Filters } from '../parts/filters.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import { SavedSegment } from './limited.tsx'
import { csvAddress, type Question } from './question.ts'
import { RangePicker } from './range-picker.tsx'
import { dayIn } from './zone.ts'

const downloads = [
  [null, 'All tables in one file (API)'],
  ['runs', 'One row per run (CSV)'],
  ['events', 'One row per event (CSV)'],
] as const

/** The period, the version and the comparison of the results. All of it is kept in the address. */
export function Controls({
  flowKey,
  question,
  versions,
}: {
  flowKey: string
  question: Question
  versions: readonly number[]
}) {
  const { setFilters } = useFilters()
  const { version, compare, isWhole } = question
  const newestFirst = versions.toReversed()
  const named = (number: number) => `Version ${number}`
  const others = versions.length > 1 ? newestFirst.filter(number => `${number}` !== version) : []
  return (
    <div class="controls split start below-4">
      <Filters first={<RangePicker question={question} />}>
        {versions.length > 1 && (
          <Select
            label="Version"
            isLabelUnseen
            isInline
            value={version ?? ''}
            options={newestFirst.map(number => [`${number}`, named(number)] as const)}
            none="All versions"
            onChange={chosen => setFilters({ version: chosen })}
          />
        )}
        <Select
          label="Compare with"
          isInline
          value={compare}
          options={[
            ['previous', 'Previous period'],
            ...others.map(number => [`v${number}`, named(number)] as const),
            ['none', 'None'],
          ]}
          onChange={chosen => setFilters({ compare: chosen === 'previous' ? null : chosen })}
        />
        <SavedSegment only={question.only} />
        {question.from < dayIn(question.zone) && (
          <Check
            label="Complete days"
            checked={isWhole}
            onChange={checked => setFilters({ days: checked ? 'complete' : null })}
          />
        )}
      </Filters>
      <Menu
        label={
          <>
            <Icon name="download" />
            Download
            <Icon name="down" />
          </>
        }
      >
        {close =>
          downloads.map(([rows, name]) => (
            <a
              key={name}
              class="menu-item"
              href={csvAddress(flowKey, question, rows)}
              download
              onClick={close}
            >
              <Icon name="download" />
              {name}
            </a>
          ))
        }
      </Menu>
    </div>
  )
}
