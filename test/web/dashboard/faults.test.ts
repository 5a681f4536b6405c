import { FaultyHouse, quickPages } from '../../support/dashboard-faults.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'

/** A list, results, the editor and a setting while the server rejects requests or is unreachable. */

let faulty: FaultyHouse
beforeAll(async () => {
  faulty = await FaultyHouse.open()
})
afterAll(() => faulty.close())

describe.each(quickPages)('%s', path => {
  test('keeps its data during an outage, shows the reason and the age of the data, and recovers', () =>
    faulty.requireDataKept(path))

  test('shows the reason if it has no data yet', () => faulty.requireReason(path))
})

test('the activity page tells people without access which access they need', () =>
  faulty.requireAccessExplained('/activity', 'analytics:read'))
