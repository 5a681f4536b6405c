import { flowKinds } from '../../../core/flow/names.ts'
import { useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Part } from '../parts/part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import type { Person, PersonHistory } from './person.ts'

type Unmet = FlowList['flows'][number]

const columnsOf = (person: Person, url: string | null): Column<Unmet>[] => [
  {
    name: 'Flow',
    isTitle: true,
    cell: ({ key, name, kind }) => (
      <>
        <a class="row-link" href={addressOf(['flows', key])}>
          {name}
        </a>
        <span class="row-note fine">{flowKinds[kind]}</span>
      </>
    ),
  },
  {
    head: <span class="unseen">Troubleshoot</span>,
    name: 'Troubleshoot',
    isNumber: true,
    cell: ({ key, name }) => (
      <a
        href={addressOf(['explain'], { [person.kind]: person.id, flow: key, url })}
        aria-label={`Troubleshoot ${name}`}
      >
        Troubleshoot
      </a>
    ),
  },
]

/** The published flows that a person has not met, each with a link to the reason. */
export function UnmetFlows({
  person,
  met,
  url,
}: {
  person: Person
  met: PersonHistory['flows']
  /** The page that they were on last. */
  url: string | null
}) {
  const { data } = useRead<FlowList>(flowsPath)
  const known = new Set(met.map(({ flowKey }) => flowKey))
  const unmet = (data?.flows ?? []).filter(
    ({ key, status }) => status === 'published' && !known.has(key),
  )
  if (unmet.length === 0) return null
  return (
    <Part title="Published flows not seen">
      <Table
        caption="Published flows not seen"
        columns={columnsOf(person, url)}
        rows={unmet}
        keyOf={({ key }) => key}
      />
    </Part>
  )
}
