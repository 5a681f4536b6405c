import type { LoadStage } from '../snippet/engine.ts'
import { startBuilding } from './build/builder.tsx'
import { dropCounted, type Held } from './held.ts'
import { startPicking } from './pick.ts'
import { type Proof, sessionAt } from './session.ts'

/** Loaded only by pages on which an author works: picks an element for a step, or builds on a draft. */

let isStarted = false

/**
 * @param from where the snippet itself was loaded from, never an address taken from the page's; and what lets
 *   the page in
 * @returns a promise that resolves when the author has left
 */
export async function startAuthor(
  { baseUrl, proof, loadStage }: { baseUrl: string; proof: Proof; loadStage: LoadStage },
  held: Held,
): Promise<void> {
  if (isStarted) return
  isStarted = true
  const session = sessionAt(baseUrl)
  await new Promise<void>(left =>
    startPicking(session, proof, {
      left,
      build(visit) {
        // Where a flow may be shown already, the page begins anew, with nothing in the way.
        if (held.isHeld) startBuilding(session, visit, { loadStage, left })
        else location.reload()
      },
    }),
  )
  isStarted = false
  dropCounted(held)
}
