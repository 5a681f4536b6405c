/**
 * Looks again and again until what is found holds, and answers it: for what tells nobody when it
 * happens.
 *
 * @param patienceMs far longer than it takes, for the machine may be busy
 * @throws when it was waited for in vain, with what was found last
 */
export async function until<Found>(
  look: () => Found | Promise<Found>,
  holds: (found: Found) => boolean = Boolean,
  patienceMs = 120_000,
): Promise<Found> {
  for (const deadline = performance.now() + patienceMs; ; await Bun.sleep(20)) {
    const found = await look()
    if (holds(found)) return found
    if (performance.now() > deadline) throw new Error(`In vain: ${Bun.inspect(found)}`)
  }
}
