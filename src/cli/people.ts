import type { Static } from '@sinclair/typebox'
import { maxListed } from '../core/shapes.ts'
import type { People, PersonHistory } from '../modules/people/schema.ts'
import { defaultPeople } from '../modules/people/schema.ts'
import type { Command } from './command.ts'
import { write } from './download.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { columns, print, printTable, tell } from './output.ts'
import { anonymous, nothingStored, personArgument, personNamed } from './person.ts'
import { segmentNamed } from './segments.ts'
import { addGroup, option, type Row, row, whole } from './table.ts'

type List = Static<typeof People>
type Listed = List['people'][number]

const minute = (at: string) => at.slice(0, 16).replace('T', ' ')
const traitsOf = (traits: Listed['traits']) =>
  Object.entries(traits).map(([name, value]) => `${name}=${value}`)

const rows: Row[] = [
  row<List>({
    name: 'list',
    about: 'list people, last seen first',
    options: [
      option('--search <text>', 'only people whose ID contains this text'),
      option('--segment <name>', 'only people of this segment'),
      option('--limit <number>', `maximum number of people, 1 to ${maxListed}`, {
        default: String(defaultPeople),
        parse: whole(1, maxListed),
      }),
      option('--csv', 'print all of them as CSV'),
    ],
    async run(manager, { search, segment, limit, csv, json }) {
      if (csv && json) throw new UsageFailure('use --csv or --json, not both')
      const query = new URLSearchParams(csv ? {} : { limit: String(limit) })
      if (search !== undefined) query.set('search', search)
      if (segment !== undefined) query.set('segment', (await segmentNamed(manager, segment)).id)
      if (!csv) return manager.ask<List>(`GET /people?${query}`)
      await write(process.stdout, await manager.download(`GET /people/list.csv?${query}`))
      return { traits: [], people: [], next: null }
    },
    show({ people, next }, { csv, limit }) {
      if (csv) return
      const header = ['id', 'kind', 'last seen (UTC)', 'flows seen', 'completed', 'traits']
      const cells = people.map(({ userId, anonymousId, lastSeenAt, flows, traits }) => [
        userId ?? anonymousId ?? '',
        userId === null ? 'anonymous' : 'user',
        minute(lastSeenAt),
        String(flows.seen),
        String(flows.completed),
        traitsOf(traits).join(' '),
      ])
      printTable(header, cells, 'No matching people.')
      if (next !== null) tell(`These are the first ${limit}. --csv prints all of them.`)
    },
    examples: [
      'cairn people list',
      'cairn people list --search @harbor.example',
      'cairn people list --segment "Pro, not onboarded" --csv > people.csv',
    ],
  }),
  row<PersonHistory>({
    name: 'show',
    about: 'show a person: traits, flows seen, pages and latest events',
    args: personArgument,
    options: [anonymous],
    route: 'GET /people/history',
    query: personNamed,
    check({ profile, flows, events }, given) {
      if (profile || flows.length > 0 || events.length > 0) return
      throw new CommandFailure(nothingStored(given))
    },
    show({ profile, flows, events }) {
      if (profile) {
        const { firstSeenAt, lastSeenAt, traits, pages } = profile
        const pairs = [
          ['first seen', `${minute(firstSeenAt)} UTC`],
          ['last seen', `${minute(lastSeenAt)} UTC`],
          ...Object.entries(traits),
          ...pages.map(({ url }, at) => [at === 0 ? 'pages' : '', url]),
        ]
        print(...columns(pairs), '')
      }
      const flowCells = flows.map(flow => [flow.flowKey, outcomeOf(flow), String(flow.runs)])
      printTable(['flow', 'outcome', 'runs'], flowCells, 'No flows seen.')
      const eventCells = events.map(({ occurredAt, kind, flowKey, stepKey, itemKey, name }) => [
        minute(occurredAt),
        kind,
        [flowKey, stepKey ?? itemKey ?? name].filter(Boolean).join(' '),
      ])
      print('')
      printTable(['time (UTC)', 'event', 'what'], eventCells, 'No events.')
    },
    examples: ['cairn people show ada', 'cairn people show visitor-7 --anonymous --json'],
  }),
]

function outcomeOf(flow: PersonHistory['flows'][number]): string {
  if (flow.completedAt ?? flow.flowCompletedAt) return 'completed'
  return flow.dismissedAt ? 'dismissed' : 'unfinished'
}

export function addPeople(cairn: Command): void {
  const about = 'people of whom events are stored'
  const examples = ['cairn people list --search ada', 'cairn people show ada']
  addGroup(cairn, { name: 'people', about, examples }, rows)
}
