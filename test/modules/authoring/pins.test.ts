import { afterAll, expect, test } from 'bun:test'
import { type FlowDefinition, meantBy } from '../../../src/core/flow/flow.ts'
import { flowWorkHere } from '../../../src/core/flow/work.ts'
import { Pins } from '../../../src/modules/authoring/pins.ts'
import { newestDefinition } from '../../../src/modules/authoring/rules.ts'
import { Authoring } from '../../../src/modules/authoring/service.ts'
import type { LookStore } from '../../../src/storage/interfaces/authoring.ts'
import { tour } from '../../support/flows.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

const { clock, management } = world
const by = { actor: { via: 'token', name: 'Test', requestId: null } } as const

test('a draft that is edited while its steps are pinned keeps the edit, and is pinned', async () => {
  const tenant = await Tenant.of(world)
  tenant.publish(
    tour({ key: 'pinned', steps: [{ key: 'a', title: 'A', target: { selector: '#a' } }] }),
  )
  const authoring = new Authoring(management.flows, flowWorkHere, clock)
  const read = async (): Promise<FlowDefinition> =>
    newestDefinition(await authoring.flow(tenant.ref, 'pinned'))
  const { steps } = await read()
  const target = meantBy(steps[0]!.target!)
  let looked = 0
  const looks: LookStore = {
    async looks() {
      const edit = { ...(await read()), name: 'Edited' }
      // Somebody else edits the draft first, once.
      if (++looked === 1) await authoring.push(tenant.ref, [edit], by)
      const print = {
        matchCount: 1,
        tag: 'button',
        id: 'new-project',
        role: 'button',
        text: 'New project',
        testId: { attr: 'data-test', value: 'new-project' },
        classes: ['button', 'primary'],
        ancestors: [{ tag: 'main', id: 'board' }],
      }
      return { baseline: { target, at: clock.now(), locale: 'en', print }, alike: 1, of: 1 }
    },
    suggested: async () => ({ byFingerprints: null, byReports: null }),
  }
  const pins = await new Pins(authoring, looks, clock).pin(tenant.ref, {}, by, false)
  expect(pins).toMatchObject([{ stepKey: 'a', outcome: 'pinned' }])
  expect(await read()).toMatchObject({
    name: 'Edited',
    steps: [{ target: { fingerprint: { id: 'new-project' } } }],
  })
  const [line] = await management.access.audit(tenant.ref, { most: 1 })
  expect(line).toMatchObject({ action: 'flow.pin', subject: 'pinned' })
})
