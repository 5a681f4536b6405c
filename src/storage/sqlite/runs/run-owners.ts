import type { Database } from 'bun:sqlite'
import { personOfRun, type RunState } from '../../../core/run/run.ts'
import { isPseudonym } from '../erasure/pseudonyms.ts'

/** The owners of runs whose names alone would give them to somebody else, because somebody was erased from them. */
export class RunOwners {
  private readonly sql

  constructor(database: Database) {
    this.sql = {
      owner: database.query<{ person: string }, [number, number, string]>(
        'select person from run_owners where org_id = ? and flow_id = ? and run_key = ?',
      ),
      handOver: database.query(
        'update run_owners set person = ? where org_id = ? and flow_id = ? and run_key = ?',
      ),
    }
  }

  /**
   * Whose run it is.
   *
   * @param newcomer whose run it would be by the newly stored events alone
   */
  of(orgRow: number, flowRow: number, key: string, run: RunState, newcomer: string): string {
    const named = personOfRun(run)
    const owner = this.sql.owner.get(orgRow, flowRow, key)?.person ?? named
    if (owner === named || !isBefore(newcomer, owner)) return owner
    this.sql.handOver.run(newcomer, orgRow, flowRow, key)
    return newcomer
  }
}

/**
 * Whether a run goes from its owner to a newcomer: from a visitor to a user, otherwise to the lesser id.
 * Nobody knows how the id of an erased person compares, so such a run stays theirs.
 */
function isBefore(newcomer: string, owner: string): boolean {
  if (newcomer[0] !== owner[0]) return newcomer.startsWith('u')
  return [newcomer, owner].every(person => !isPseudonym(person.slice(1))) && newcomer < owner
}
