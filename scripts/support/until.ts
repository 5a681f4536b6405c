/**
 * Looks again and again until the condition holds for what is found, and returns that. For things that
 * notify nobody when they happen.
 *
 * @param patienceMs far longer than it takes, for the machine may be busy, but less than the two minutes
 *   that a test has, which would end without a word of what was found
 * @throws Error with what was found last, when the patience has run out
 */
export async function until<Found>(
  look: () => Found | Promise<Found>,
  holds: (found: Found) => boolean = Boolean,
  patienceMs = 90_000,
): Promise<Found> {
  for (const deadline = performance.now() + patienceMs; ; await Bun.sleep(20)) {
    const found = await look()
    if (holds(found)) return found
    if (performance.now() > deadline) throw new Error(`This never changed: ${Bun.inspect(found)}`)
  }
}
