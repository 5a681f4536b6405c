import { askedFor } from '../report/arguments.ts'
import { machineText } from '../report/machine.ts'
import { begin } from '../report/progress.ts'
import { broken, type Ledger, ledgerLines } from './ledger.ts'
import { partNames, parts } from './plan.ts'

/** Does to Cairn's executable what the world may do to it, and keeps a ledger; see `run`. */

const usage = `usage: scripts/torture/run [--only NAME]... [--long] [--seed N] [--json]

${partNames.map(name => `  ${name.padEnd(11)} ${parts[name]?.what}`).join('\n')}

  --only NAME  only this part; repeatable
  --long       the whole of it, hours rather than minutes
  --seed N     repeat what was drawn with this seed; else one is drawn and printed
  --json       print JSON in place of the tables

Exit status 1 where a promise did not hold.`

const asked = askedFor(usage, partNames, {
  long: { type: 'boolean', default: false },
  seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
})
const { chosen, json, long: isLong } = asked
if (!/^\d{1,10}$/.test(asked.seed)) {
  console.error('cairn: --seed wants a whole number')
  process.exit(2)
}
const seed = Number(asked.seed)
if (!json) console.log(`${machineText()}\nseed ${seed}${isLong ? ', the long form' : ''}`)
const ledgers: (Ledger & { part: string; seconds: number })[] = []
for (const part of chosen) {
  const { what, seconds, torture } = parts[part]!
  begin(`${part}: ${what} (about ${isLong ? seconds.long : seconds.short} s)`)
  const startedAt = performance.now()
  try {
    const ledger = await torture({ isLong, seed })
    ledgers.push({ ...ledger, part, seconds: (performance.now() - startedAt) / 1_000 })
    if (broken(ledger).length > 0) process.exitCode = 1
    if (!json) console.log(`\n${ledgerLines(ledger).join('\n')}`)
  } catch (error) {
    // The results of the other parts are worth as much without this one.
    console.error(error)
    begin(`${part} has failed; repeat it by: scripts/torture/run --only ${part} --seed ${seed}`)
    process.exitCode = 1
  }
}
if (json) console.log(JSON.stringify({ machine: machineText(), seed, isLong, ledgers }, null, 2))
