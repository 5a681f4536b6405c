import { askedFor } from '../report/arguments.ts'
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

const asked = askedFor(usage, names, {
  long: { type: 'boolean', default: false },
  seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
})
const { chosen, json, long: isLong } = asked
if (!/^\d{1,10}$/.test(asked.seed)) {
  console.error('cairn: --seed must be a whole number')
  process.exit(2)
}
const seed = Number(asked.seed)
if (!json) console.log(`${machineText()}\nseed ${seed}${isLong ? ', the long form' : ''}`)
const results: (Result & { part: string; seconds: number })[] = []
for (const name of chosen) {
  const { what, run } = parts[name] as Part
  begin(`${name}: ${what}`)
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
