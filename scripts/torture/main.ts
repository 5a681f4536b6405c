import { parseArgs } from 'node:util'
import { machineText } from '../report/machine.ts'
import { begin } from '../report/progress.ts'
import { markdownOf } from '../report/table.ts'
import { faults, tried } from './faults.ts'
import { type Check, failedIn } from './verdict.ts'

/** Does to Cairn's executable what can happen to it, and prints what held; see `run`. */

const names = Object.keys(faults)
const usage = `usage: scripts/torture/run [--only NAME]... [--long] [--seed N]

${names.map(name => `  ${name.padEnd(11)} ${faults[name]?.what}`).join('\n')}

  --only NAME  only this fault; repeatable
  --long       hours instead of minutes
  --seed N     repeat the random choices of this seed; else one is chosen and printed

Exit status 1 if a guarantee did not hold.`

function optionsOf(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true, default: names },
        long: { type: 'boolean', default: false },
        seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
        help: { type: 'boolean', default: false },
      },
    })
    const unknown = values.only.find(name => !names.includes(name))
    if (unknown !== undefined) throw new Error(`there is no fault "${unknown}"`)
    if (!/^\d{1,10}$/.test(values.seed)) throw new Error('--seed must be a whole number')
    return values
  } catch (error) {
    console.error(`cairn: ${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

const { only, long: isLong, help, ...options } = optionsOf(Bun.argv.slice(2))
if (help) {
  console.log(usage)
  process.exit(0)
}
const seed = Number(options.seed)
console.log(`${machineText()}\nseed ${seed}${isLong ? ', the long form' : ''}`)
const verdictOf = ({ isOk }: Check) => (isOk === undefined ? '' : isOk ? 'ok' : 'FAILED')
for (const fault of names.filter(one => only.includes(one))) {
  const { what, missing } = faults[fault]!
  begin(`${fault}: ${what}`)
  const need = missing?.() ?? null
  if (need !== null) {
    begin(`${fault} is not tried here: it needs ${need}`)
    continue
  }
  try {
    const checks = await tried(fault, isLong, seed)
    if (failedIn(checks).length > 0) process.exitCode = 1
    const rows = checks.map(check => [check.what, String(check.value), verdictOf(check)])
    const table = markdownOf({ title: what, header: ['what', 'found', ''], rows })
    console.log(`\n${table.join('\n')}`)
  } catch (error) {
    // The results of the other faults are worth as much without this one.
    console.error(error)
    begin(`${fault} has failed; repeat it with: scripts/torture/run --only ${fault} --seed ${seed}`)
    process.exitCode = 1
  }
}
