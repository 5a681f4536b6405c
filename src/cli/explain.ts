import type { Reason } from '../core/flow/audience.ts'
import { didYouMean, quoted, shown } from '../core/text/wording.ts'
import type { Explanation } from '../modules/flows/schema.ts'
import type { Command } from './command.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { readJson } from './files.ts'
import type { Manager } from './manage.ts'
import { counted, print } from './output.ts'
import { addRow, type Given, option, row } from './table.ts'

export function addExplain(cairn: Command): void {
  addRow(
    cairn,
    row<Explanation>({
      name: 'explain',
      about: 'say whether a person sees a flow on a page, and why; exit status 0 either way',
      args: { '<flow>': 'key or id of the flow' },
      options: [
        option('--page <url>', 'address of the page', { isRequired: true }),
        option('--user <id>', 'the person; their runs count towards how often a flow is shown'),
        option('--anonymous <id>', 'a person without a user id; with neither, somebody new'),
        option(
          '--traits <json>',
          'traits of the person as a JSON object; @FILE reads a file, @- the standard input',
          { default: '{}' },
        ),
      ],
      run: (manager, given) =>
        explained(manager, {
          flow: given.flow,
          url: pageOf(given.page).href,
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

/** The API's answer, with the commands that would help. */
async function explained(
  { ask, organisation }: Manager,
  body: { flow: string; userId?: string; url: string; traits: object },
): Promise<Explanation> {
  try {
    const explanation = await ask<Explanation>('POST /explain', { body })
    const rules = explanation.rules.map(rule => ({ ...rule, why: rule.why + remedyOf(rule, body) }))
    return { ...explanation, rules }
  } catch (error) {
    if ((error as Partial<CommandFailure>).code !== 'flow_not_found') throw error
    const { flows } = await ask<{ flows: { key: string }[] }>('GET /flows')
    const keys = flows.map(({ key }) => key)
    const hint = didYouMean(body.flow, keys) || ': see "cairn flows list"'
    throw new CommandFailure(`${organisation} has no flow ${quoted(body.flow)}${hint}`)
  }
}

/** What to do about a condition that does not hold, to be put after the reason. */
function remedyOf(
  { rule, holds }: Explanation['rules'][number],
  { userId }: { userId?: string },
): string {
  if (rule === 'key' && holds === false) return ', "cairn key rotate"'
  if (rule === 'origin' && holds === false) return ': see origins in "cairn org settings"'
  return rule === 'identify' && holds === null && userId === undefined ? ' (--user)' : ''
}

const maxUrlLength = 2_048

function pageOf(text: string): URL {
  if (text.length <= maxUrlLength && URL.canParse(text)) return new URL(text)
  throw new UsageFailure(
    `--page ${quoted(text)} is no address of a page: write all of it, such as https://app.example.com/projects`,
  )
}

function personOf({ user, anonymous }: Given): { userId?: string; anonymousId?: string } {
  if (user !== undefined && anonymous !== undefined) {
    throw new UsageFailure('give --user or --anonymous, not both: they are different people')
  }
  return {
    ...(user !== undefined && { userId: user }),
    ...(anonymous !== undefined && { anonymousId: anonymous }),
  }
}

function traitsOf(given: string): object {
  const traits = readJson('--traits', given, '{"plan": "pro"}')
  if (typeof traits === 'object' && traits !== null && !Array.isArray(traits)) return traits
  throw new UsageFailure(`--traits must be a JSON object, such as '{"plan": "pro"}'`)
}

const sign = ({ holds }: { holds: boolean | null }) => (holds === null ? '?' : holds ? '✓' : '✗')

/** The verdict, then every condition, then further facts worth knowing. */
function linesOf(explanation: Explanation): string[] {
  const { flow, person, url, rules, instead } = explanation
  const { userId, anonymousId, history } = person
  const width = Math.max(...rules.map(({ rule }) => rule.length))
  const part = (reason: Reason) => `  ${' '.repeat(width + 2)}  ${sign(reason)} ${reason.why}`
  const conditions = rules.flatMap(rule => [
    `  ${sign(rule)} ${rule.rule.padEnd(width)}  ${rule.why}`,
    ...rule.parts.map(part),
  ])
  const about = ([name, text]: [string, string]) => `${name.padEnd(width + 4)}  ${text}`
  const facts: [string, string][] = [
    ['flow', `${flow.key} (${flow.id}), ${versionOf(flow)}`],
    ['person', `${shown(userId ?? anonymousId ?? 'somebody new')}: ${historyOf(history)}`],
    ['page', url],
  ]
  if (instead !== null) facts.push(['instead', `${instead} is shown there`])
  return [verdictOf(explanation), '', ...conditions, '', ...facts.map(about)]
}

function verdictOf({ shown: isShown, flow, rules }: Explanation): string {
  if (isShown) return `shown: ${flow.key}`
  const failed = rules.filter(({ holds }) => holds === false)
  const names = failed.map(({ rule }) => rule).join(', ')
  const [first] = failed
  // The part of an audience that fails says more than how much of it fails.
  const part = first?.rule === 'audience' ? first.parts.find(({ holds }) => !holds) : undefined
  return `not shown: ${flow.key}, by ${names}: ${part?.why ?? first?.why}`
}

function versionOf({ version, hasDraft, status }: Explanation['flow']): string {
  if (version === null) return 'never published'
  if (status !== 'published') return `${hasDraft ? 'its draft' : `version ${version}`}, ${status}`
  return `version ${version}${hasDraft ? '; a newer draft is not published' : ''}`
}

function historyOf(history: Explanation['person']['history']): string {
  const { runs, startedAt, completedAt, dismissedAt, inProgress } = history
  if (runs === 0) return 'no run of this flow'
  const parts = [
    `last started ${startedAt}`,
    ...(completedAt === null ? [] : [`completed ${completedAt}`]),
    ...(dismissedAt === null ? [] : [`dismissed ${dismissedAt}`]),
    ...(inProgress ? ['in progress'] : []),
  ]
  return `${counted(runs, 'run')}, ${parts.join(', ')}`
}
