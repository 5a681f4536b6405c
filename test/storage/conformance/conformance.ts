import { describe, expect, test } from 'bun:test'
import { activityConforms } from './activity.ts'
import { alertsConform } from './alerts.ts'
import { analyticsConform } from './analytics.ts'
import { answersConform } from './answers.ts'
import { authorSessionsConform } from './author-sessions.ts'
import { authoringConforms } from './authoring.ts'
import { checklistsConform } from './checklists.ts'
import { environmentsConform } from './environments.ts'
import { ledgerConforms } from './ledger.ts'
import { operationsConform } from './operations.ts'
import { organisationsConform } from './organisations.ts'
import { peopleConform } from './people.ts'
import { presenceConforms } from './presence.ts'
import { previewsConform } from './previews.ts'
import { retentionConforms } from './retention.ts'
import { signInsConform } from './sign-ins.ts'
import { stepsConform } from './steps.ts'
import { allMethods, notingCalls, type OpenStore, usualRounds } from './store.ts'
import { tenancyConforms } from './tenancy.ts'
import { timingConforms } from './timing.ts'

/**
 * What every store has to do, tested through the ports alone. Each kind of store runs this suite.
 *
 * @param name what the store is called
 * @param openStore gives a store that holds nothing yet; the suite closes it
 * @param rounds how often its laws are tried
 */
export function conformance(name: string, openStore: OpenStore, rounds = usualRounds): void {
  const called = new Set<string>()
  const open: OpenStore = async () => notingCalls(await openStore(), called)
  describe(name, () => {
    describe('ledger', () => ledgerConforms(open, rounds))
    describe('analytics', () => analyticsConform(open, rounds))
    describe('answers in words', () => answersConform(open))
    describe('activity', () => activityConforms(open))
    describe('author sessions', () => authorSessionsConform(open))
    describe('links to previews', () => previewsConform(open))
    describe('links of organisations', () => environmentsConform(open))
    checklistsConform(open, rounds)
    describe('people', () => peopleConform(open, rounds))
    retentionConforms(open, rounds)
    describe('steps', () => stepsConform(open))
    describe('presence', () => presenceConforms(open))
    describe('authoring', () => authoringConforms(open, rounds))
    describe('organisations', () => organisationsConform(open))
    describe('sign-ins', () => signInsConform(open))
    describe('alerts', () => alertsConform(open))
    describe('operations', () => operationsConform(open))
    describe('tenancy', () => tenancyConforms(open))
    describe('when flows begin', () => timingConforms(open, rounds))

    test('every method of every port was called', () => {
      expect(allMethods.filter(method => !called.has(method))).toEqual([])
    })
  })
}
