import { builtBinary, Workplace } from './binary.ts'
import { PostgresServer } from './postgres.ts'

/** The server of this process's tests, each of which has a database of its own. */
let server: Promise<PostgresServer> | null = null

/**
 * A workplace over the store that `CAIRN_TEST_STORE` names: a data directory or, if that is `postgres`, a
 * database of its own, with its server as a node.
 */
export async function placeOverStore(): Promise<Workplace> {
  const store = process.env.CAIRN_TEST_STORE ?? 'sqlite'
  if (store === 'sqlite') return new Workplace()
  if (store !== 'postgres') throw new Error(`CAIRN_TEST_STORE is "${store}": sqlite or postgres`)
  server ??= PostgresServer.open()
  const url = await (await server).newDatabase()
  return new Workplace(builtBinary, undefined, { CAIRN_DATABASE_URL: url })
}
