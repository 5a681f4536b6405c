import { afterAll, describe, expect, test } from 'bun:test'
import { activityConforms } from './activity.ts'
import { alertsConform } from './alerts.ts'
import { analyticsConform } from './analytics.ts'
import { answersConform } from './answers.ts'
import { authoringConforms } from './authoring.ts'
import { checklistsConform } from './checklists.ts'
import { environmentsConform } from './environments.ts'
import { imagesConform } from './images.ts'
import { ledgerConforms } from './ledger.ts'
import { operationsConform } from './operations.ts'
import { organisationsConform } from './organisations.ts'
import { peopleConform } from './people.ts'
import { peopleListConforms } from './people-list.ts'
import { presenceConforms } from './presence.ts'
import { retentionConforms } from './retention.ts'
import { segmentsConform } from './segments.ts'
import { signInsConform } from './sign-ins.ts'
import { stepsConform } from './steps.ts'
import { allMethods, defaultRounds, notingCalls, type OpenStore, type Store } from './store.ts'
import { tenancyConforms } from './tenancy.ts'
import { ticketsConform } from './tickets.ts'
import { timingConforms } from './timing.ts'

/**
 * What storage has to do, tested through the ports alone: over the database of one server, and over several nodes.
 *
 * @param name what the store is called
 * @param openStore gives a store that holds nothing yet; the suite closes it
 * @param rounds how often its laws are tried
 */
export function conformance(name: string, openStore: OpenStore, rounds = defaultRounds): void {
  const called = new Set<string>()
  const open: OpenStore = async () => notingCalls(await openStore(), called)
  /** The store that is shared by all suites that read only their own organisations. */
  let shared: Promise<Store> | undefined
  const openShared: OpenStore = async () => {
    shared ??= open()
    return Object.create(await shared, { close: { value: async () => {} } })
  }
  describe(name, () => {
    afterAll(async () => (await shared)?.close())
    describe('ledger', () => ledgerConforms(open, rounds))
    describe('analytics', () => analyticsConform(open, rounds))
    describe('written answers', () => answersConform(openShared))
    describe('activity', () => activityConforms(openShared))
    describe('tickets', () => ticketsConform(openShared))
    describe('images', () => imagesConform(openShared))
    describe('links of organisations', () => environmentsConform(openShared))
    checklistsConform(open, rounds)
    describe('people', () => peopleConform(open, rounds))
    peopleListConforms(open, rounds)
    segmentsConform(openShared)
    retentionConforms(open, rounds)
    describe('steps', () => stepsConform(open))
    describe('presence', () => presenceConforms(openShared))
    describe('authoring', () => authoringConforms(openShared, rounds))
    describe('organisations', () => organisationsConform(openShared))
    describe('sign-ins', () => signInsConform(openShared))
    describe('alerts', () => alertsConform(openShared))
    describe('operations', () => operationsConform(open))
    describe('tenancy', () => tenancyConforms(open))
    describe('when flows begin', () => timingConforms(open, rounds))

    test('every method of every port was called', () => {
      expect(allMethods.filter(method => !called.has(method))).toEqual([])
    })
  })
}
