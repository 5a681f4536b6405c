import type { Database } from 'bun:sqlite'
import { AppError } from '../../core/errors.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { KnownSessions, KnownTokens } from '../../http/port.ts'
import type { AccessStore } from '../../modules/access/port.ts'
import type { AlertStore } from '../../modules/alerts/port.ts'
import type { AuthorStore } from '../../modules/author/port.ts'
import type { FlowStore, LookStore } from '../../modules/authoring/port.ts'
import type { DashboardStore } from '../../modules/dashboard/port.ts'
import type { EnvironmentStore } from '../../modules/environments/port.ts'
import type { ActivityStore, EventLog } from '../../modules/events/port.ts'
import type { ExplainStore } from '../../modules/flows/port.ts'
import type { SeenStore } from '../../modules/installation/port.ts'
import type { OperationsStore } from '../../modules/operations/port.ts'
import type { OrganisationStore } from '../../modules/organisations/port.ts'
import type { PeopleStore } from '../../modules/people/port.ts'
import type { PreviewStore } from '../../modules/previews/port.ts'
import type { RunStore } from '../../modules/runs/port.ts'
import type { StepEvidenceStore } from '../../modules/steps/port.ts'
import { inSlices, patientSlices } from '../../scheduling/cooperative.ts'
import { asPort, rowOf } from '../shared/in-rows.ts'
import { maxOrganisations } from '../shared/live-state.ts'
import * as alertTables from './alerts/alert-store.ts'
import { flowVersionOf, flowVersionsOf, publishedParts, readFlowsInSlices } from './flows/reader.ts'
import { prepareChanges } from './flows/store.ts'
import { deadLetterIds, listDeadLetters } from './ledger/dead-letters.ts'
import { EventLogReader } from './ledger/event-log.ts'
import { readAudit } from './organisations/audit-log.ts'
import { findLink, findSession } from './organisations/dashboard-sessions.ts'
import { identityHours } from './organisations/identity-counts.ts'
import { findToken, listTokens } from './organisations/management-tokens.ts'
import { keysOf, pageOfOrganisations, readOrganisation } from './organisations/organisations.ts'
import { readLinks } from './organisations/staging-links.ts'
import { personData } from './people/person-data.ts'
import { personEventsOver } from './people/person-events.ts'
import { runListOver } from './runs/run-rows.ts'
import { writtenAnswersOver } from './runs/written-answers.ts'
import { looksOver, StepReader } from './steps/step-reader.ts'
import type { StorageCalls } from './writer/calls.ts'
import type { LongWork } from './writer/long-work.ts'

/** Reads over a connection, writes through storage's operations, and does long work beside it. */
export function connectManagement(
  reading: Database,
  calls: StorageCalls,
  work: LongWork,
  isOneOfSeveral: boolean,
) {
  const { storage } = calls
  /** Takes up what other machines have stored, before something is read that is not part of the catalogue. */
  const followed = async () => {
    if (isOneOfSeveral) await storage.followed()
  }
  /** Brings the tables up to date with what is acknowledged. */
  const caughtUp = async () => {
    await followed()
    if (storage.live.lag.events > 0) await storage.projected()
  }
  const currentKey = (orgRow: number) =>
    keysOf(reading, orgRow, 0).find(({ retiredAt }) => retiredAt === null)?.key ?? null
  const seen: SeenStore = {
    async write() {
      // What is stored can be told even if nothing can be written.
      await calls.operate('writeSeen').catch(() => {})
    },
    snippetKey: async orgRef => currentKey(rowOf(orgRef)),
  }
  const organisations: OrganisationStore = {
    most: maxOrganisations,
    list: async (...args) => pageOfOrganisations(reading, ...args),
    read: async (orgRef, now) => readOrganisation(reading, rowOf(orgRef), now),
    ...asPort<Pick<OrganisationStore, 'add' | 'change'>>({
      add: (...args) => calls.operate('addOrganisation', ...args),
      change: (...args) => calls.operate('changeOrganisation', ...args),
    }),
    async identityHours(orgRef, now) {
      await seen.write()
      return identityHours(reading)(rowOf(orgRef), now)
    },
  }
  const steps = new StepReader(reading)
  const eventLog = new EventLogReader(reading)
  const personEvents = personEventsOver(reading, eventLog)
  const runList = runListOver(reading)
  const writtenAnswers = writtenAnswersOver(reading)
  return {
    seen,
    organisations,
    flows: asPort<FlowStore>({
      read: (...args) => readFlowsInSlices(reading, ...args),
      versions: async (...args) => flowVersionsOf(reading, ...args),
      version: async (...args) => flowVersionOf(reading, ...args),
      publishedParts: async (...args) => publishedParts(reading, ...args),
      async lastChange(orgRow, subject) {
        const [line] = readAudit(reading, orgRow, { subject, most: 1 })
        return line ? { by: line.actor.name, at: line.at } : null
      },
      async change(orgRow, changes) {
        const prepared = await inSlices(prepareChanges(reading, orgRow, changes), patientSlices())
        return calls.operate('changeFlows', orgRow, prepared)
      },
    }),
    explaining: asPort<ExplainStore>({
      read: (...args) => readFlowsInSlices(reading, ...args),
      hasSnippetKey: async orgRow => currentKey(orgRow) !== null,
    }),
    looks: asPort<LookStore>(first(followed, looksOver(reading, steps))),
    evidence: asPort<StepEvidenceStore>(first(followed, steps)),
    runs: asPort<RunStore>({
      async runs(...args) {
        await caughtUp()
        return runList.runs(...args)
      },
      async writtenAnswers(...args) {
        await caughtUp()
        return writtenAnswers(...args)
      },
    }),
    eventLog: asPort<EventLog>(first(followed, eventLog)),
    activity: asPort<ActivityStore>({ after: (...args) => storage.readActivity(...args) }),
    people: asPort<PeopleStore>({
      async stored(person) {
        await caughtUp()
        return personData(reading, person)
      },
      async events(...args) {
        await followed()
        return personEvents(...args)
      },
      async erase(person, options, audit, tell) {
        if (isOneOfSeveral && options.compact) throw compactsOneOnly()
        await storage.projected()
        return isOneOfSeveral
          ? calls.work('erase', [person, audit], tell)
          : work.erase(person, options, audit, tell)
      },
      allow: (...args) => calls.operate('allowPerson', ...args),
    }),
    operations: asPort<OperationsStore>({
      async deadLetters(...args) {
        await followed()
        return listDeadLetters(reading, ...args)
      },
      async deadLetterIds(orgRow) {
        await followed()
        return deadLetterIds(reading, orgRow)
      },
      nodes: async () => (isOneOfSeveral ? calls.work('nodes', []) : null),
      retryDeadLetters: (...args) => calls.operate('retryDeadLetters', ...args),
      dropDeadLetters: (...args) => calls.operate('dropDeadLetters', ...args),
      async rebuild(audit, tell) {
        await storage.projected()
        return isOneOfSeveral ? calls.work('rebuild', [audit], tell) : work.rebuild(audit, tell)
      },
      compact: work.compact,
    }),
    access: asPort<AccessStore>({
      tokens: async orgRow => listTokens(reading, orgRow),
      createToken: (...args) => calls.operate('createToken', ...args),
      revokeToken: (...args) => calls.operate('revokeToken', ...args),
      audit: async (...args) => readAudit(reading, ...args),
    }),
    signIns: asPort<DashboardStore>({
      createLink: (...args) => calls.operate('createLink', ...args),
      link: async sha256 => findLink(reading, sha256),
      redeemLink: (...args) => calls.operate('redeemLink', ...args),
      beginSession: (...args) => calls.operate('beginSession', ...args),
      endSession: (...args) => calls.operate('endSession', ...args),
      endSessionsOf: who => calls.operate('endSessionsOf', who),
    }),
    alerts: asPort<AlertStore>({
      watched: async () => alertTables.watchedOrganisations(reading),
      settings: async (...args) => alertTables.readSettings(reading, ...args),
      changeSettings: (...args) => calls.operate('changeAlertSettings', ...args),
      countSends: (...args) => calls.operate('countSends', ...args),
      webhooks: async (...args) => alertTables.listWebhooks(reading, ...args),
      addWebhook: (...args) => calls.operate('addWebhook', ...args),
      changeWebhook: (...args) => calls.operate('changeWebhook', ...args),
      removeWebhook: (...args) => calls.operate('removeWebhook', ...args),
      alerts: async (...args) => alertTables.listAlerts(reading, ...args),
      note: (...args) => calls.operate('noteAlerts', ...args),
      deliveries: async (...args) => alertTables.listDeliveries(reading, ...args),
      delivery: async (...args) => alertTables.findDelivery(reading, ...args),
      due: async (...args) => alertTables.dueDeliveries(reading, ...args),
      attempted: (...args) => calls.operate('noteAttempt', ...args),
      replay: (...args) => calls.operate('replayDelivery', ...args),
      forget: (...args) => calls.operate('forgetAlerts', ...args),
    }),
    environments: asPort<EnvironmentStore>({
      links: async orgRow => readLinks(reading, orgRow),
      link: (...args) => calls.operate('linkStaging', ...args),
      unlink: (...args) => calls.operate('unlinkStaging', ...args),
    }),
    authorSessions: asPort<AuthorStore>({
      begin: (...args) => storage.authors(sessions => sessions.begin(...args)),
      read: (...args) => storage.authors(sessions => sessions.read(...args)),
      end: (...args) => storage.authors(sessions => sessions.end(...args)),
      redeem: (...args) => storage.authors(sessions => sessions.redeem(...args)),
      visit: (...args) => storage.authors(sessions => sessions.visit(...args)),
      propose: (...args) => storage.authors(sessions => sessions.propose(...args)),
    }),
    previews: asPort<PreviewStore>({
      begin: (...args) => storage.previews(links => links.begin(...args)),
      list: (...args) => storage.previews(links => links.list(...args)),
      end: (...args) => storage.previews(links => links.end(...args)),
      visit: (...args) => storage.previews(links => links.visit(...args)),
      note: (...args) => calls.operate('noteAudit', ...args),
    }),
    managementTokens: {
      find: sha256 => findToken(reading, sha256),
      used: noting((id, at) => calls.operate('noteTokenUse', id, at)),
    } satisfies KnownTokens,
    dashboardSessions: {
      find: sha256 => findSession(reading, sha256),
      seen: noting((sha256, at) => calls.operate('noteSeen', sha256, at)),
    } satisfies KnownSessions,
  }
}

/** Makes each method of a port do something first. */
function first<Port extends object>(before: () => Promise<void>, port: Port): Port {
  return new Proxy(port, {
    get(_, name) {
      const method = port[name as keyof Port] as (...args: unknown[]) => unknown
      return async (...args: unknown[]) => {
        await before()
        return method.apply(port, args)
      }
    },
  })
}

const compactsOneOnly = () =>
  new AppError(
    'unsupported_by_database',
    'Several servers have this data, and each is compacted on its own: stop it, then run "cairn compact" there',
  )

const mostNoted = 10_000

/** Notes something once a minute at most, because callers may call many times in a minute. */
function noting(note: (name: string, at: number) => Promise<unknown>) {
  const noted = new Map<string, number>()
  return (name: string, at: number) => {
    if (at - (noted.get(name) ?? 0) < minuteMs) return
    if (noted.size >= mostNoted) noted.clear()
    noted.set(name, at)
    note(name, at).catch(() => noted.delete(name))
  }
}
