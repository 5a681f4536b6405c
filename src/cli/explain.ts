import { quoted } from '../core/text/wording.ts'
import type { Explanation } from '../modules/flows/schema.ts'
import type { Command } from './command.ts'
import { UsageFailure } from './failure.ts'
import { readJson } from './files.ts'
import { columns, print } from './output.ts'
import { addRow, type Given, option, row } from './table.ts'

export function addExplain(cairn: Command): void {
  addRow(
    cairn,
    row<Explanation>({
      name: 'explain',
      about: 'check whether a person sees a flow on a page, and why; exit status 0 either way',
      args: { '<flow>': 'key or id of the flow' },
      options: [
        option('--page <url>', 'URL of the page', { isRequired: true }),
        option('--user <id>', 'user ID of the person (default: a new visitor)'),
        option('--anonymous <id>', 'anonymous ID of the person'),
        option('--traits <json>', 'traits as a JSON object; @FILE reads a file, @- the stdin', {
          default: '{}',
        }),
      ],
      route: 'POST /explain',
      body: given => ({
        flow: given.flow,
        url: pageOf(given.page),
        ...personOf(given),
        traits: traitsOf(given.traits),
      }),
      show: explanation => print(...linesOf(explanation)),
      examples: [
        `cairn explain welcome --page https://app.harbor.example/ --user ada --traits '{"plan": "pro"}'`,
        'cairn explain welcome --page https://app.harbor.example/ --user ada --traits @ada.json',
      ],
    }),
  )
}

const maxUrlLength = 2_048

function pageOf(text: string): string {
  if (text.length <= maxUrlLength && URL.canParse(text)) return new URL(text).href
  throw new UsageFailure(
    `--page ${quoted(text)} is not a full URL, such as https://app.example.com/projects`,
  )
}

function personOf({ user, anonymous }: Given): { userId?: string; anonymousId?: string } {
  if (user !== undefined && anonymous !== undefined) {
    throw new UsageFailure('use --user or --anonymous, not both')
  }
  if (user !== undefined) return { userId: user }
  return anonymous === undefined ? {} : { anonymousId: anonymous }
}

function traitsOf(given: string): object {
  const traits = readJson('--traits', given, '{"plan": "pro"}')
  if (typeof traits === 'object' && traits !== null && !Array.isArray(traits)) return traits
  throw new UsageFailure(`--traits must be a JSON object, such as '{"plan": "pro"}'`)
}

const sign = ({ holds }: { holds: boolean | null }) => (holds === null ? '?' : holds ? '✓' : '✗')

/** The verdict, then every condition. */
function linesOf({ shown, flow, rules, instead }: Explanation): string[] {
  const failed = rules.filter(({ holds }) => holds === false)
  const [first] = failed
  // The condition of an audience that fails says more than how many of them fail.
  const part = first?.parts.find(({ holds }) => holds === false)
  const names = failed.map(({ rule }) => rule).join(', ')
  const verdict = shown ? 'shown' : 'not shown'
  const why = first ? `, by ${names}: ${part?.why ?? first.why}` : ''
  const conditions = rules.flatMap(rule => [
    [`  ${sign(rule)}`, rule.rule, rule.why],
    ...rule.parts.map(one => ['', '', `${sign(one)} ${one.why}`]),
  ])
  return [
    `${verdict}: ${flow.key}${why}`,
    '',
    ...columns(conditions),
    ...(instead === null ? [] : ['', `${instead} is shown there.`]),
  ]
}
