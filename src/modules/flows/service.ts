import type { FlowHistory } from '../../core/flow/decision.ts'
import type { PublishedFlows } from '../../core/organisation/catalogue.ts'
import type { PersonIds, Stores } from '../../core/ports.ts'
import { isoTimeOrNull } from '../../core/time/clock.ts'
import type { PassingBody } from '../../http/encoded.ts'
import type { FlowList, History } from './model.ts'

/** The published flows with what a person has done with them. */
export async function withHistory(
  orgRow: number,
  flows: PublishedFlows,
  person: PersonIds,
  { people }: Pick<Stores, 'people'>,
): Promise<PassingBody> {
  const { remembered } = flows
  const rows = remembered.map(({ row }) => row)
  const histories = await people.histories(orgRow, rows, person)
  const history: FlowList['history'] = {}
  for (const { row, id } of remembered) {
    const ofFlow = histories.get(row)
    if (ofFlow) history[id] = asTold(ofFlow)
  }
  const text = JSON.stringify(history)
  return {
    hash: `${flows.hash}.${Bun.hash.xxHash64(text).toString(36)}`,
    // Without the brace at its end, the list goes on.
    get text() {
      return `${flows.text.slice(0, -1)},"history":${text}}`
    },
    isPassing: true,
  }
}

export const asTold = (history: FlowHistory): History => ({
  runs: history.runs,
  startedAt: isoTimeOrNull(history.startedAt),
  completedAt: isoTimeOrNull(history.completedAt),
  dismissedAt: isoTimeOrNull(history.dismissedAt),
  openRunId: history.openRunId,
})
