import { FaultyHouse, quickPages } from '../../support/dashboard-faults.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'
import { everyPage } from '../../web/dashboard/every-page.ts'

/** Every page while the server refuses, or is gone, but those of the quick run. */

let faulty: FaultyHouse
beforeAll(async () => {
  faulty = await FaultyHouse.open()
})
afterAll(() => faulty.close())

describe.each(everyPage)('$path', ({ path, needs }) => {
  // A new flow reads nothing that is stored, so it can be written whatever the server says.
  if (path !== '/flows/new' && !quickPages.includes(path)) {
    test('keeps its data during a fault, says why and how old it is, and recovers', () =>
      faulty.requireDataKept(path))
    test('says what is wrong if there is nothing to show yet', () => faulty.requireReason(path))
  }
  test('tells people without access what they need', () =>
    faulty.requireAccessExplained(path, needs))
})
