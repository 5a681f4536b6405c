import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { personOf } from '../../../../src/core/event/event.ts'
import { makesNoRun } from '../../../../src/core/run/run.ts'
import type { NewEvent } from '../../../../src/storage/shared/in-rows.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import { erasing, textsIn } from '../../../support/erasing.ts'
import { autumnAnchor, type History, lifeArbitrary, reach } from '../../../support/histories.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { analyticsOf, lawWorld } from '../../../support/lives.ts'
import { personalEvents } from '../../../support/personal-events.ts'
import { newEventOf, type StoredWorld, storeFlows } from '../../../support/stored-history.ts'
import type { World } from '../../../support/world.ts'

/**
 * Two organisations live through the same history. In one, events are deleted and people erased while
 * it goes on; in the other all stays. Nothing but what is stored of events may tell the two apart.
 */

const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? 25)

const day = 86_400_000
type Act =
  | { type: 'send'; size: number }
  | { type: 'delete'; days: number }
  /** `days` is the period of a deletion that runs meanwhile. After `killedAfter` steps it is begun again. */
  | { type: 'erase'; who: number; days: number | null; killedAfter: number | null }
  | { type: 'seal' | 'rebuild' }

const days = fc.integer({ min: 1, max: 12 })

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delete' as const), days }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('erase' as const),
      who: fc.nat({ max: 99 }),
      days: fc.option(days),
      killedAfter: fc.option(fc.integer({ min: 1, max: 20 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom({ type: 'seal' as const }, { type: 'rebuild' as const }),
  },
)

const nameOf = ({ userId, anonymousId }: NewEvent) => personOf(userId, anonymousId)

/** Users come before visitors. */
const rank = (name: string) => `${name.startsWith('u') ? 0 : 1}${name}`

/** One organisation's life. `forgets` says whether anything of it is deleted or erased. */
class Life {
  readonly stored: StoredWorld
  /** Texts that may be in no file any more. */
  readonly gone: string[] = []
  private readonly events: readonly NewEvent[]
  /** Places of events whose person has been erased. */
  private readonly left: number[]
  private readonly erased = new Set<string>()
  private sent = 0
  private at = autumnAnchor - reach

  constructor(
    private readonly world: World,
    history: History,
    order: readonly number[],
    private readonly forgets: boolean,
  ) {
    this.stored = storeFlows(world, history.flows)
    this.events = personalEvents(history.events, (event, id) => newEventOf(this.stored, event, id))
    this.left = [...order]
    if (forgets) return
    world.database.run('update organisations set retention_days = 3650 where id = ?', [
      this.stored.orgRow,
    ])
    world.takeUp()
  }

  async live(act: Act): Promise<void> {
    this.at += day / 2
    switch (act.type) {
      case 'send': {
        const next = this.left.slice(this.sent, this.sent + act.size)
        this.sent += next.length
        return this.append(next.map(place => this.events[place]!))
      }
      case 'delete':
        if (!this.forgets) return
        this.keepFor(act.days)
        return this.world.retainAll()
      case 'erase':
        return this.erase(act)
      case 'seal':
        return this.world.sealAll()
      case 'rebuild':
        expect(rebuild(this.world.database).changed).toBe(0)
    }
  }

  private keepFor(days: number): void {
    this.world.clock.moveTo(this.at + 1)
    this.world.storage.housekeeping.retentionDays = days
  }

  private runOf(place: number): string | null {
    const { flowRef, runId } = this.events[place]!
    return runId === null ? null : `${flowRef} ${runId}`
  }

  private async erase({ who, days, killedAfter }: Extract<Act, { type: 'erase' }>): Promise<void> {
    const { orgRow } = this.stored
    const person = nameOf(this.events[who % this.events.length]!)
    // What they report later is left out in both organisations.
    this.erased.add(person)
    const isErased = (place: number) => this.erased.has(nameOf(this.events[place]!))
    const sent = this.left.slice(0, this.sent)
    const later = this.left.splice(this.sent)
    // So is what others report of a run that only erased people were in by now, because its name is gone.
    const living = new Set(sent.filter(place => !isErased(place)).map(place => this.runOf(place)))
    const gone = new Set(sent.filter(isErased).map(place => this.runOf(place))).difference(living)
    gone.delete(null)
    // So is what would take a run over from an erased person by the order of ids: their id is forgotten.
    const owners = this.ownersOf(sent)
    const takesOver = (place: number) => {
      const [owner, name] = [owners.get(this.runOf(place) ?? ''), nameOf(this.events[place]!)]
      return owner && this.erased.has(owner) && name[0] === owner[0] && name < owner
    }
    const isTaken = (place: number) =>
      !isErased(place) && !gone.has(this.runOf(place)) && !takesOver(place)
    this.left.push(...later.filter(isTaken))
    if (!this.forgets) return
    const { public_id: orgId } = this.world.database
      .query<{ public_id: string }, [number]>('select public_id from organisations where id = ?')
      .get(orgRow)!
    if (days !== null) this.keepFor(days)
    for (const most of [...(killedAfter === null ? [] : [killedAfter]), Number.POSITIVE_INFINITY]) {
      let steps = 0
      for await (const _ of erasing(this.world, { orgRef: orgRow, orgId, person })) {
        if (++steps > most) break
        if (days !== null) await this.world.storage.housekeeping.retain()
      }
    }
    await this.world.storage.watch()
    const own = this.events.filter(event => nameOf(event) === person)
    const texts = ({ id, url, reason, properties }: NewEvent) => [id, url, reason, properties]
    const said = own.flatMap(({ traits }) => (traits === null ? [] : [JSON.parse(traits).plan]))
    this.gone.push(person.slice(1), ...said, ...own.flatMap(texts).filter(text => text !== null))
  }

  /** The owner of each run with an id: the least user id, otherwise the least anonymous id. */
  private ownersOf(sent: readonly number[]): Map<string, string> {
    const owners = new Map<string, string>()
    for (const place of sent) {
      const [run, event] = [this.runOf(place), this.events[place]!]
      if (run === null || makesNoRun(event.kind)) continue
      const known = owners.get(run)
      if (known === undefined || rank(nameOf(event)) < rank(known)) owners.set(run, nameOf(event))
    }
    return owners
  }

  private async append(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return
    this.at = Math.max(this.at, ...events.map(({ occurredAt }) => occurredAt))
    const { orgRow } = this.stored
    const receivedAt = this.at
    const more = { refusals: {}, skewMs: null }
    const outcome = await this.world.byRow.ledger.append({
      orgRef: orgRow,
      receivedAt,
      events,
      ...more,
    })
    expect(outcome).toEqual({ duplicates: [], deadLetters: [], erased: [] })
  }
}

const seen = { deleted: 0, erased: 0 }

test('deletion and erasure change no number, rebuilds change nothing, and no file names the erased', async () => {
  await fc.assert(
    fc.asyncProperty(lifeArbitrary(act), async ({ history, acts, order }) => {
      const world = lawWorld()
      const [keeping, forgetting] = [false, true].map(
        forgets => new Life(world, history, order, forgets),
      ) as [Life, Life]
      for (const act of acts) {
        await keeping.live(act)
        await forgetting.live(act)
      }
      expect(rebuild(world.database).changed).toBe(0)
      const now = await analyticsOf(world, forgetting.stored)
      expect(now).toEqual((await analyticsOf(world, keeping.stored)) as never)
      expect(textsIn(world.dataDir, forgetting.gone)).toEqual([])
      const [all, left] = [keeping, forgetting].map(
        life => storedEvents(world.database, life.stored.orgRow).length,
      ) as [number, number]
      seen.deleted += all - left
      seen.erased += forgetting.gone.length > 0 ? 1 : 0
      await world.close()
    }),
    { numRuns },
  )
}, 300_000)

test('most of those lives had something to delete, and somebody to erase', () => {
  expect(seen.deleted).toBeGreaterThan(numRuns * 3)
  expect(seen.erased).toBeGreaterThan(numRuns / 2)
})
