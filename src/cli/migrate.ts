import { keepServersOut } from '../runtime/lock.ts'
import {
  doingText,
  stageOf,
  type UpgradePlan,
  type UpgradeProgress,
  upgradeDatabase,
  upgradePlan,
  wantedBytes,
} from '../storage/sqlite/database/upgrade.ts'
import { tryUpgrade } from '../storage/sqlite/database/upgrade-trial.ts'
import type { Command, Flags } from './command.ts'
import { requireData, requireNoServer } from './data.ts'
import { UsageFailure } from './failure.ts'
import { print, printColumns, printJson, sizeOf } from './output.ts'
import { progressLine } from './progress.ts'
import { addSettings, settingsOf } from './settings.ts'

type Options = Flags<never, 'dryRun' | 'onCopy' | 'json'> & { copy: boolean }

export function addMigrate(cairn: Command): void {
  addSettings(cairn.command('migrate'), ['data'])
    .description(
      'bring the data of an older release up to date, as a starting server does; copies it first',
    )
    .option(
      '--dry-run',
      'only show what would be done and what it takes; works while a server runs',
    )
    .option('--on-copy', 'try it on a temporary copy, and show how long each step took')
    .option('--no-copy', 'make no copy of the database first')
    .option(
      '--json',
      'print {from, to, steps: [{id, name, seconds}], databaseBytes, wantedBytes, freeBytes, copy} as JSON; seconds and copy are null if not done',
    )
    .examples(
      'cairn migrate --dry-run',
      'cairn migrate --on-copy --data /var/lib/cairn',
      'cairn migrate',
    )
    .action(async (options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      requireData(data)
      if (options.onCopy && (options.dryRun || !options.copy)) {
        throw new UsageFailure('--on-copy goes with neither --dry-run nor --no-copy')
      }
      const plan = upgradePlan(data)
      const done = await carryOut(data, plan, options)
      if (options.json) return printJson(asJson(plan, options, done))
      if (plan.due.length === 0) {
        return print(`nothing to do: the database has schema ${plan.to}, the newest known here`)
      }
      const isOnlyTold = options.dryRun || options.onCopy
      printColumns([
        ...(isOnlyTold ? planRows(plan, options) : []),
        ...doneRows(plan, options, done),
      ])
    })
}

/** How long a step took. */
interface StepTime {
  id: number
  seconds: number
}

/** What was done; the copy is null if none was made, or none is left. */
interface Done {
  steps: StepTime[]
  copy: string | null
}

async function carryOut(data: string, plan: UpgradePlan, options: Options): Promise<Done | null> {
  if (plan.due.length === 0 || options.dryRun) return null
  const steps: StepTime[] = []
  const line = progressLine()
  let beganAt = performance.now()
  const onProgress = (progress: UpgradeProgress) => {
    line.show(stageOf(progress), () => doingText(progress))
    const now = performance.now()
    if (progress.doing !== 'step' || progress.share === 0) beganAt = now
    if (progress.doing !== 'step' || progress.share !== 1) return
    // A step is reported at its last row, and again once it is committed.
    if (steps.at(-1)?.id === progress.id) steps.pop()
    steps.push({ id: progress.id, seconds: Math.round(now - beganAt) / 1_000 })
  }
  if (options.onCopy) {
    await tryUpgrade(data, Date.now(), onProgress).finally(line.end)
    return { steps, copy: null }
  }
  requireNoServer(data)
  const lock = keepServersOut(data)
  try {
    const how = { withCopy: options.copy, onProgress }
    return { steps, copy: await upgradeDatabase(data, Date.now(), how) }
  } finally {
    line.end()
    lock.release()
  }
}

function planRows(plan: UpgradePlan, { copy }: Options): string[][] {
  const wanted = sizeOf(wantedBytes(plan, copy))
  return [
    ['schema', `${plan.from}, to become ${plan.to}`],
    ...plan.due.map(({ id, name }) => [`step ${id}`, name]),
    ['database', sizeOf(plan.databaseBytes)],
    [
      'disk',
      `takes up to ${wanted}${copy ? ' with the copy' : ''}, ${sizeOf(plan.freeBytes)} are free`,
    ],
  ]
}

function doneRows(plan: UpgradePlan, { onCopy }: Options, done: Done | null): string[][] {
  const { from, to } = plan
  if (done === null) return [['time', timeOf(plan)]]
  const times = done.steps.map(({ id, seconds }) => [`step ${id}`, `took ${seconds} s`])
  if (onCopy) return [...times, ['tried', 'on a copy, which was intact and has been deleted']]
  const copy =
    done.copy === null ? [] : [['copy', `${done.copy}, from before; delete it when you like`]]
  return [...times, ...copy, ['schema', `${to}, from ${from}`]]
}

/** Bringing the first release's data up to date took 11 s per GB on two cores and a fast disk. */
const secondsPerGb = 11

const timeOf = ({ databaseBytes }: UpgradePlan) =>
  `perhaps ${Math.ceil((databaseBytes / 1e9) * secondsPerGb)} s on a fast disk; --on-copy tries it here`

function asJson(plan: UpgradePlan, { copy }: Options, done: Done | null) {
  const { from, to, due, databaseBytes, freeBytes } = plan
  const secondsOf = new Map(done?.steps.map(({ id, seconds }) => [id, seconds]))
  return {
    from,
    to,
    steps: due.map(({ id, name }) => ({ id, name, seconds: secondsOf.get(id) ?? null })),
    databaseBytes,
    wantedBytes: wantedBytes(plan, copy),
    freeBytes,
    copy: done?.copy ?? null,
  }
}
