import { type Loaded, repeat } from './load.ts'
import { asked, flows } from './pages.ts'
import type { Program } from './programs.ts'
import type { Tenant } from './seed.ts'

/** Reads of a few pages at a time: what they wait is due to what else the server does. */
const pace = { connections: 4, pauseMs: 10 }

/** `GET /flows` as some pages ask for it, for so many seconds. */
export async function readFlows(
  program: Program,
  tenant: Tenant,
  seconds: number,
): Promise<Loaded> {
  return repeat(program, await asked(program, tenant, flows), { ...pace, seconds })
}
