import { Check } from '../parts/choice.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import { analyticsWords as words } from '../words/analytics.ts'
import { csvAddress, type Question } from './question.ts'
import { RangePicker } from './range-picker.tsx'
import { dayIn } from './zone.ts'

/** What is asked of the results. All of it is kept in the address. */
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
  const known = versions.toReversed()
  const ofVersions = known.map(number => [`${number}`, words.oneVersion(number)] as const)
  const others = known.filter(number => `${number}` !== version)
  return (
    <div class="controls with-end">
      <div class="controls-start">
        <RangePicker question={question} />
        {versions.length > 1 && (
          <Select
            isInline
            label={words.version}
            isLabelUnseen
            value={version ?? ''}
            options={[['', words.allVersions], ...ofVersions]}
            onChange={chosen => setFilters({ version: chosen })}
          />
        )}
        <Select
          isInline
          label={words.compareWith}
          value={compare}
          options={[
            ['previous', words.previous],
            ...(versions.length > 1
              ? others.map(number => [`v${number}`, words.oneVersion(number)] as const)
              : []),
            ['none', words.nothing],
          ]}
          onChange={chosen => setFilters({ compare: chosen === 'previous' ? null : chosen })}
        />
        {question.from < dayIn(question.zone) && (
          <Check
            label={words.wholeDays}
            checked={isWhole}
            onChange={checked => setFilters({ days: checked ? 'complete' : null })}
          />
        )}
      </div>
      <Menu
        label={
          <>
            <Icon name="download" />
            {words.download}
            <Icon name="down" />
          </>
        }
      >
        {close =>
          (
            [
              [null, words.csvNumbers],
              ['runs', words.csvRuns],
              ['events', words.csvEvents],
            ] as const
          ).map(([rows, name]) => (
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
