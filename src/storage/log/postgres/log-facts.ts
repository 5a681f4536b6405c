import { Postgres } from './connection.ts'

/** How many nodes of a database run, by what they have reported. Only reads. */
export async function runningNodes(url: string): Promise<number> {
  const postgres = Postgres.open(url, { most: 1 })
  try {
    const { nodes } = (await postgres.get<{ nodes: number }>(
      'select count(*)::float8 as nodes from cairn_nodes where lease_until > clock_timestamp()',
    ))!
    return nodes
  } finally {
    await postgres.close()
  }
}
