import { FaultyHouse, quickPages } from '../../support/dashboard-faults.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'
import { everyPage } from '../../web/dashboard/every-page.ts'

/** Every page while the server rejects requests or is gone, except the pages of the quick run. */

let faulty: FaultyHouse
beforeAll(async () => {
  faulty = await FaultyHouse.open()
})
afterAll(() => faulty.close())

describe.each(everyPage)('$path', ({ path, needs }) => {
  // A new flow reads no stored data, so people can write it whatever the server responds.
  if (!path.startsWith('/flows/new') && !quickPages.includes(path)) {
    test('keeps its data during an outage, shows the reason and the age of the data, and recovers', () =>
      faulty.requireDataKept(path))
    test('shows the reason if it has no data yet', () => faulty.requireReason(path))
  }
  test('tells people without access what they need', () =>
    faulty.requireAccessExplained(path, needs))
})
