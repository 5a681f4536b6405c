import type { Database } from 'bun:sqlite'

/**
 * People as 64 bits that nobody outside can foresee. Two of a million people share theirs by
 * chance in one of thirty-seven million flows, and are then counted as one. Never 0, which stands for
 * nobody.
 */
export function personHash(database: Database): (person: string) => bigint {
  const state = database.query<{ value: number }, [string]>(
    'select value from server_state where name = ?',
  )
  const half = (name: string) => BigInt.asUintN(32, BigInt(state.get(name)?.value ?? 0))
  const seed = (half('people_seed_1') << 32n) | half('people_seed_2')
  return person => Bun.hash.xxHash64(person, seed) || 1n
}
