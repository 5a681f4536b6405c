import { useRead } from '../api/read.ts'
import { flowPath } from '../flows/definition.ts'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { Part } from '../parts/part.tsx'
import { Select } from '../parts/select.tsx'
import { useFilters } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { type DiffAnswer, Difference } from './difference.tsx'

const nameOf = (side: string) => (side === 'draft' ? 'Draft' : `Version ${side}`)

const sideOf = (side: string) => (side === 'draft' ? 'the draft' : `version ${side}`)

/** In a comparison with an older version, anything that a later one brought back simply counts as added. */
function ofPast({ steps, items, diff }: DiffAnswer): DiffAnswer {
  const come = (changes: DiffAnswer['steps']) => ({
    ...changes,
    added: [...changes.added, ...changes.returning],
    returning: [],
  })
  return { steps: come(steps), items: come(items), diff }
}

/** Compares any two versions, or a version with the draft. The address names both. */
export function Compare({ flow, versions }: { flow: AuthoredFlow; versions: readonly number[] }) {
  const { filters, setFilters, withFilters } = useFilters()
  const sides = [...(flow.hasDraft ? ['draft'] : []), ...versions.map(String)]
  const isOpen = filters.from !== undefined || filters.to !== undefined
  const [first = '', second = first] = sides
  const from = filters.from ?? second
  const to = filters.to ?? first
  const query = new URLSearchParams({ from, to })
  const difference = useRead<DiffAnswer>(isOpen ? flowPath(flow.key, `/diff?${query}`) : null)
  if (sides.length < 2 && !isOpen) return null
  const options = (chosen: string) =>
    [...new Set([...sides, chosen])].map(side => [side, nameOf(side)] as const)
  return (
    <Part id="compare" title="Compare">
      <div class="controls row below-4">
        <Select
          isInline
          label="From"
          value={from}
          options={options(from)}
          onChange={chosen => setFilters({ from: chosen, to })}
        />
        <Select
          isInline
          label="To"
          value={to}
          options={options(to)}
          onChange={chosen => setFilters({ from, to: chosen })}
        />
        {isOpen ? (
          <LinkButton href={withFilters({ from: null, to: null })}>Stop comparing</LinkButton>
        ) : (
          <LinkButton href={withFilters({ from, to })}>Compare</LinkButton>
        )}
      </div>
      {isOpen && (
        <Reading of={difference} lines={3}>
          {data => <Difference of={ofPast(data)} from={sideOf(from)} to={sideOf(to)} />}
        </Reading>
      )}
    </Part>
  )
}
