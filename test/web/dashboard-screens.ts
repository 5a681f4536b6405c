/** What twenty open dashboards cost the server, in use and then left open. Run by scripts/dashboard. */

import { readFileSync } from 'node:fs'
import { leftOpenAfterMs } from '../../src/web/dashboard/api/attention.ts'
import { Demo } from '../support/demo.ts'

const screens = 20
const minutes = Number(process.argv[2] ?? 3)
/** How long requests may still come that a page planned before it counted as left open. Milliseconds. */
const maxPlannedMs = 60_000

/** What people leave open, in turn. */
const pages = [
  { path: '', shows: 'Needs attention' },
  { path: '/flows/welcome', shows: 'Where people leave' },
  { path: '/flows/welcome/health', shows: 'Found by' },
  { path: '/flows', shows: 'Numbers of the last 30 days' },
]

/** The time of all threads of a process, in milliseconds. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  // User time and kernel time, in ticks. Every Linux has a hundred ticks a second.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** A process's share of a core over some minutes, in percent. */
async function shareOver(pid: number, minutes: number): Promise<number> {
  const [before, from] = [cpuMs(pid), performance.now()]
  await Bun.sleep(minutes * 60_000)
  return (100 * (cpuMs(pid) - before)) / (performance.now() - from)
}

// The JavaScript engine as it is for users.
const demo = await Demo.open({ env: { BUN_JSC_useDFGJIT: '1', BUN_JSC_useFTLJIT: '1' } })
try {
  const idle = await shareOver(demo.pid, minutes / 3)
  for (let i = 0; i < screens; i++) {
    const { path, shows } = pages[i % pages.length]!
    const { page } = await demo.page()
    await page.goto(demo.home + path)
    await page.getByText(shows).first().waitFor()
  }
  const openedAt = performance.now()
  const open = await shareOver(demo.pid, Math.min(minutes, leftOpenAfterMs / 60_000))
  await Bun.sleep(openedAt + leftOpenAfterMs + maxPlannedMs - performance.now())
  const left = await shareOver(demo.pid, minutes)
  console.log(`server's CPU over ${minutes} minutes, percent of a core, wanted under 1:`)
  console.log(`  nothing open         ${idle.toFixed(2)}`)
  console.log(`  ${screens} screens looked at ${open.toFixed(2)}`)
  console.log(`  ${screens} screens left open ${left.toFixed(2)}`)
} finally {
  await demo.close()
}
process.exit(0)
