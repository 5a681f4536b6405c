import type { Static } from '@sinclair/typebox'
import type { PeopleFilter } from '../core/person/filter.ts'
import type { Segment, SegmentList } from '../modules/segments/schema.ts'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { readJson } from './files.ts'
import type { Manager } from './manage.ts'
import { counted, print } from './output.ts'
import { addGroup, option, type Row, row } from './table.ts'

type Segments = Static<typeof SegmentList>
type Stored = Static<typeof Segment>

/** A segment by its name or ID. @throws CommandFailure */
export async function segmentNamed({ ask }: Manager, name: string): Promise<Stored> {
  const { segments } = await ask<Segments>('GET /segments')
  const found = segments.find(one => one.name === name) ?? segments.find(({ id }) => id === name)
  if (found) return found
  throw new CommandFailure(
    `no segment is named ${JSON.stringify(name)}: "cairn segments list" shows all`,
  )
}

const example = '{"rules": [{"attribute": "plan", "op": "eq", "value": "pro"}]}'

const conditionsIn = ({ rules = [], flows = [] }: PeopleFilter) =>
  [
    ...(rules.length > 0 ? [counted(rules.length, 'trait')] : []),
    ...(flows.length > 0 ? [counted(flows.length, 'flow')] : []),
  ].join(', ') || 'everyone'

const rows: Row[] = [
  {
    name: 'list',
    about: 'list the segments of an organisation',
    route: 'GET /segments',
    part: 'segments',
    columns: {
      name: 'name',
      id: 'id',
      conditions: ({ filter }: Stored) => conditionsIn(filter),
      'changed (UTC)': ({ changedAt }: Stored) => changedAt.slice(0, 16).replace('T', ' '),
    },
    none: 'No segments. Save one on the page People, or with "cairn segments create".',
    examples: ['cairn segments list'],
  },
  row<Stored>({
    name: 'create',
    about: 'create a segment: a filter of people with a name',
    args: { '<name>': 'its name' },
    options: [
      option('--filter <json>', 'rules on traits and conditions on flows; @FILE reads a file', {
        isRequired: true,
      }),
    ],
    route: 'POST /segments',
    body: ({ name, filter }) => ({ name, filter: readJson('--filter', filter, example) }),
    show: ({ name, id }) =>
      print(`Created ${name} (${id}).`, `Next: cairn people list --segment ${id}`),
    examples: [
      `cairn segments create "Pro plan" --filter '${example}'`,
      'cairn segments create "Not onboarded" --filter @filter.json',
    ],
    notes: '"cairn help api" shows what a filter can have.',
  }),
  row<object>({
    name: 'delete',
    about: 'delete a segment; flows that copied its rules keep them',
    args: { '<segment>': 'its name or ID' },
    async run(manager, given) {
      const { id, name, etag } = await segmentNamed(manager, given.segment)
      await manager.ask(`DELETE /segments/${id}`, { headers: { 'if-match': etag } })
      return { id, name }
    },
    show: (_, { segment }) => print(`Deleted ${segment}.`),
    examples: ['cairn segments delete "Pro plan"'],
  }),
]

export function addSegments(cairn: Command): void {
  const about = 'named filters of people'
  const examples = ['cairn segments list', 'cairn people list --segment "Pro plan"']
  addGroup(cairn, { name: 'segments', about, examples }, rows)
}
