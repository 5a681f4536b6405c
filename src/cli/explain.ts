import type { Command } from 'commander'
import type { Reason, Traits } from '../core/audience.ts'
import { isoTimeOrNull } from '../core/clock.ts'
import { type DecidedRule, decide, type FlowHistory } from '../core/decision.ts'
import { personOf } from '../core/event.ts'
import { didYouMean, quoted, shown } from '../core/wording.ts'
import { candidatesFor, type StoredCandidate } from '../storage/candidates.ts'
import { checkedOrigin, keysOf, type OrganisationRecord } from '../storage/organisations.ts'
import { organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { readTextFile } from './files.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

interface Options {
  url: string
  user?: string
  anonymous?: string
  traits?: string
  json?: boolean
}

/** A condition of the flow or of its organisation. */
type Rule = Omit<DecidedRule, 'rule'> & { rule: DecidedRule['rule'] | 'key' | 'origin' }

interface Explanation {
  shown: boolean
  flow: StoredCandidate
  person: string
  url: URL
  rules: readonly Rule[]
  /** The key of the flow that is shown in its place, if one is. */
  instead: string | null
}

export function addExplain(cairn: Command): void {
  addSettings(cairn.command('explain'), ['data'])
    .description(
      'say whether a person sees a flow on a page, and why; exit status 0 with either answer',
    )
    .argument('<org>', 'id or slug of the organisation')
    .argument('<flow>', 'key or id of the flow')
    .requiredOption('--url <url>', 'address of the page')
    .option('--user <id>', 'the person, whose runs count for how often a flow is shown')
    .option('--anonymous <id>', 'a person without a user id; with neither, somebody new')
    .option(
      '--traits <json>',
      'attributes of the person, as a JSON object; @file reads them, @- from the standard input',
      '{}',
    )
    .option(
      '--json',
      'print {shown, flow, person, url, rules: [{rule, holds, why, parts}], instead} as JSON; holds is null where only the browser can tell',
    )
    .addHelpText(
      'after',
      examples(
        `cairn explain harbor welcome --url https://app.harbor.example/ --user ada --traits '{"plan": "pro"}'`,
        'cairn explain harbor welcome --url https://app.harbor.example/ --user ada --traits @ada.json',
        'cairn explain harbor welcome --url https://app.harbor.example/ --json',
      ),
    )
    .action(async (org: string, flow: string, options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const { user, anonymous } = options
      const visit = { url: pageOf(options.url), traits: traitsOf(options.traits ?? '{}') }
      const person = personNamed(user, anonymous)
      const explanation = await withData(data, database => {
        const organisation = organisationNamed(database, org)
        const all = candidatesFor(database, organisation.row, person)
        const candidate = flowNamed(all, flow, organisation)
        const others = all.filter(other => other !== candidate)
        const decision = decide(candidate, visit, others)
        const hasKey = keysOf(database, organisation.row, Date.now()).some(
          ({ retiredAt }) => retiredAt === null,
        )
        const gate = [keyRule(hasKey, organisation), originRule(visit.url, organisation)]
        const isOpen = gate.every(({ holds }) => holds)
        const isShown = isOpen && decision.shown
        return {
          shown: isShown,
          flow: candidate,
          person: user === undefined ? (anonymous ?? 'somebody new') : user,
          url: visit.url,
          rules: [...gate, ...decision.rules],
          instead: isShown || !isOpen ? null : decision.winner,
        }
      })
      if (options.json) return printJson(asJson(explanation, { user, anonymous }))
      print(...linesOf(explanation))
    })
}

const longestUrl = 2_048
const longestPerson = 128

function pageOf(text: string): URL {
  if (text.length <= longestUrl && URL.canParse(text)) return new URL(text)
  throw new UsageFailure(
    `--url ${quoted(text)} is no address of a page: write all of it, such as https://app.example.com/projects`,
  )
}

function personNamed(user: string | undefined, anonymous: string | undefined): string | null {
  if (user !== undefined && anonymous !== undefined) {
    throw new UsageFailure('give --user or --anonymous, not both: they are different people')
  }
  const id = user ?? anonymous
  if (id === undefined) return null
  if (id === '' || id.length > longestPerson) {
    throw new UsageFailure(`the id of a person has 1 to ${longestPerson} characters`)
  }
  return personOf(user ?? null, anonymous ?? null)
}

function traitsOf(given: string): Traits {
  const where = given.startsWith('@') ? `the traits in ${given.slice(1)}` : '--traits'
  let text = given
  if (given.startsWith('@')) {
    const file = readTextFile(given.slice(1))
    if ('problem' in file) throw new CommandFailure(`${where}: ${file.problem.message}`)
    text = file.text
  }
  try {
    const traits: unknown = JSON.parse(text)
    if (typeof traits === 'object' && traits !== null && !Array.isArray(traits)) {
      return traits as Traits
    }
  } catch {}
  throw new UsageFailure(`${where} must be a JSON object, such as '{"plan": "pro"}'`)
}

function flowNamed(
  all: readonly StoredCandidate[],
  name: string,
  { slug }: OrganisationRecord,
): StoredCandidate {
  const found = all.find(({ id, flow }) => flow.key === name || id === name)
  if (found) return found
  const keys = all.map(({ flow }) => flow.key)
  const hint = didYouMean(name, keys) || `: see "cairn flows list --org ${slug}"`
  throw new CommandFailure(`${slug} has no flow ${quoted(name)}${hint}`)
}

function keyRule(holds: boolean, { slug }: OrganisationRecord): Rule {
  const why = holds
    ? 'the organisation has a snippet key'
    : `the organisation has no snippet key: make one, "cairn key rotate --org ${slug}"`
  return { rule: 'key', holds, why, parts: [] }
}

/** As the API refuses other origins: those that the organisation has not listed, if it lists any. */
function originRule(url: URL, { slug, origins }: OrganisationRecord): Rule {
  if (origins.length === 0) {
    return { rule: 'origin', holds: true, why: 'the snippet may run on any origin', parts: [] }
  }
  const origin = originOf(url)
  const holds = origins.includes(origin)
  const why = holds
    ? `${origin} is on the list of origins`
    : `${shown(origin)} is not on the list of ${counted(origins.length, 'origin')}: see "cairn org origins ${slug}"`
  return { rule: 'origin', holds, why, parts: [] }
}

/** Extensions have origins too, which URL does not know of. */
function originOf({ protocol, host }: URL): string {
  try {
    return checkedOrigin(`${protocol}//${host}`)
  } catch {
    return 'null'
  }
}

const times = ({ startedAt, completedAt, dismissedAt, ...rest }: FlowHistory) => ({
  ...rest,
  startedAt: isoTimeOrNull(startedAt),
  completedAt: isoTimeOrNull(completedAt),
  dismissedAt: isoTimeOrNull(dismissedAt),
})

function asJson(
  {
    shown,
    flow: { id, flow, status, version, hasDraft, history },
    url,
    rules,
    instead,
  }: Explanation,
  { user, anonymous }: Pick<Options, 'user' | 'anonymous'>,
) {
  return {
    shown,
    flow: { id, key: flow.key, status, version, hasDraft },
    person: { userId: user ?? null, anonymousId: anonymous ?? null, history: times(history) },
    url: url.href,
    rules,
    instead,
  }
}

const sign = ({ holds }: { holds: boolean | null }) => (holds === null ? '?' : holds ? '✓' : '✗')

/** The verdict, then every condition, then what else is worth knowing. */
function linesOf(explanation: Explanation): string[] {
  const { flow, person, url, rules, instead } = explanation
  const width = Math.max(...rules.map(({ rule }) => rule.length))
  const part = (reason: Reason) => `  ${' '.repeat(width + 2)}  ${sign(reason)} ${reason.why}`
  const conditions = rules.flatMap(rule => [
    `  ${sign(rule)} ${rule.rule.padEnd(width)}  ${rule.why}`,
    ...rule.parts.map(part),
  ])
  const about = ([name, text]: [string, string]) => `${name.padEnd(width + 4)}  ${text}`
  const facts: [string, string][] = [
    ['flow', `${flow.flow.key} (${flow.id}), ${versionOf(flow)}`],
    ['person', `${shown(person)}: ${historyOf(flow.history)}`],
    ['page', url.href],
  ]
  if (instead !== null) facts.push(['instead', `${instead} is shown there`])
  return [verdictOf(explanation), '', ...conditions, '', ...facts.map(about)]
}

function verdictOf({ shown: isShown, flow, rules }: Explanation): string {
  if (isShown) return `shown: ${flow.flow.key}`
  const failed = rules.filter(({ holds }) => holds === false)
  const names = failed.map(({ rule }) => rule).join(', ')
  const [first] = failed
  // What fails of an audience says more than how much of it fails.
  const part = first?.rule === 'audience' ? first.parts.find(({ holds }) => !holds) : undefined
  return `not shown: ${flow.flow.key}, by ${names}: ${part?.why ?? first?.why}`
}

function versionOf({ version, hasDraft, status }: StoredCandidate): string {
  if (version === null) return 'never published'
  if (status !== 'published') return `${hasDraft ? 'its draft' : `version ${version}`}, ${status}`
  return `version ${version}${hasDraft ? '; a newer draft is not published' : ''}`
}

function historyOf(history: FlowHistory): string {
  const { runs, startedAt, completedAt, dismissedAt, inProgress } = times(history)
  if (runs === 0) return 'no run of this flow'
  const parts = [
    `last started ${startedAt}`,
    ...(completedAt === null ? [] : [`completed ${completedAt}`]),
    ...(dismissedAt === null ? [] : [`dismissed ${dismissedAt}`]),
    ...(inProgress ? ['in progress'] : []),
  ]
  return `${counted(runs, 'run')}, ${parts.join(', ')}`
}
