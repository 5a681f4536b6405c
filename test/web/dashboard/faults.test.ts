import { FaultyHouse, quickPages } from '../../support/dashboard-faults.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'

/** A list, results, the editor and a setting while the server refuses, or is gone. */

let faulty: FaultyHouse
beforeAll(async () => {
  faulty = await FaultyHouse.open()
})
afterAll(() => faulty.close())

describe.each(quickPages)('%s', path => {
  test('keeps its data during a fault, says why and how old it is, and recovers', () =>
    faulty.requireDataKept(path))

  test('says what is wrong if there is nothing to show yet', () => faulty.requireReason(path))
})

test('the activity tells people without access what they need', () =>
  faulty.requireAccessExplained('/activity', 'analytics:read'))
