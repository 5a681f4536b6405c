/**
 * Measures a share of the floor until it is reached, a few times at most: a machine that was busy
 * for a moment shall fail nobody. All that was measured, in order.
 */
export async function tries(
  measure: () => Promise<number>,
  { least, most }: { least: number; most: number },
): Promise<number[]> {
  const shares: number[] = []
  do shares.push(await measure())
  while (Math.max(...shares) < least && shares.length < most)
  return shares
}
