import { parseArgs } from 'node:util'
import { machineText } from '../report/machine.ts'
import { begin } from '../report/progress.ts'
import { type Part, parts } from './parts.ts'
import { failedIn, linesOf, type Result } from './result.ts'

/** Does to Cairn's executable what can happen to it, and prints what held; see `run`. */

const names = Object.keys(parts)
const usage = `usage: scripts/torture/run [--only NAME]... [--long] [--seed N] [--json]

${names.map(name => `  ${name.padEnd(11)} ${parts[name]?.what}`).join('\n')}

  --only NAME  only this part; repeatable
  --long       hours instead of minutes
  --seed N     repeat the random choices of this seed; else one is chosen and printed
  --json       print JSON instead of tables

Exit status 1 if a guarantee did not hold.`

function optionsOf(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true, default: names },
        long: { type: 'boolean', default: false },
        seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const unknown = values.only.find(name => !names.includes(name))
    if (unknown !== undefined) throw new Error(`there is no part "${unknown}"`)
    if (!/^\d{1,10}$/.test(values.seed)) throw new Error('--seed must be a whole number')
    return values
  } catch (error) {
    console.error(`cairn: ${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

const options = optionsOf(Bun.argv.slice(2))
if (options.help) {
  console.log(usage)
  process.exit(0)
}
const { only, json, long: isLong } = options
const seed = Number(options.seed)
if (!json) console.log(`${machineText()}\nseed ${seed}${isLong ? ', the long form' : ''}`)
const results: (Result & { part: string; seconds: number })[] = []
for (const name of names.filter(one => only.includes(one))) {
  const { what, missing, run } = parts[name] as Part
  begin(`${name}: ${what}`)
  const need = missing?.() ?? null
  if (need !== null) {
    begin(`${name} is not tried here: it needs ${need}`)
    continue
  }
  const startedAt = performance.now()
  try {
    const result = await run({ isLong, seed })
    results.push({ ...result, part: name, seconds: (performance.now() - startedAt) / 1_000 })
    if (failedIn(result).length > 0) process.exitCode = 1
    if (!json) console.log(`\n${linesOf(result).join('\n')}`)
  } catch (error) {
    // The results of the other parts are worth as much without this one.
    console.error(error)
    begin(`${name} has failed; repeat it with: scripts/torture/run --only ${name} --seed ${seed}`)
    process.exitCode = 1
  }
}
if (json) console.log(JSON.stringify({ machine: machineText(), seed, isLong, results }, null, 2))
