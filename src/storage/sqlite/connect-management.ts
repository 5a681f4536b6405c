import type { Database } from 'bun:sqlite'
import { AppError } from '../../core/errors.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { inSlices, patientSlices } from '../../scheduling/cooperative.ts'
import type { AccessStore } from '../interfaces/access.ts'
import type { AlertStore } from '../interfaces/alerts.ts'
import type { FlowStore, LookStore } from '../interfaces/authoring.ts'
import type { DashboardStore } from '../interfaces/dashboard.ts'
import type { EnvironmentStore } from '../interfaces/environments.ts'
import type { ActivityStore, EventLog } from '../interfaces/events.ts'
import type { ExplainStore } from '../interfaces/flows.ts'
import type { KnownSessions, KnownTokens } from '../interfaces/gate.ts'
import type { ImageStore } from '../interfaces/images.ts'
import type { SeenStore } from '../interfaces/installation.ts'
import type { MemberStore } from '../interfaces/members.ts'
import type { OperationsStore } from '../interfaces/operations.ts'
import type { OrganisationStore } from '../interfaces/organisations.ts'
import type { PeopleList, PeopleStore } from '../interfaces/people.ts'
import type { RunStore } from '../interfaces/runs.ts'
import type { SegmentStore } from '../interfaces/segments.ts'
import type { StepEvidenceStore } from '../interfaces/steps.ts'
import type { TicketStore } from '../interfaces/tickets.ts'
import { asPort, rowOf } from '../shared/in-rows.ts'
import { maxOrganisations } from '../shared/live-state.ts'
import * as alertTables from './alerts/alert-store.ts'
import { first } from './connect.ts'
import { allowAgain } from './erasure/erasures.ts'
import { flowVersionOf, flowVersionsOf, publishedParts, readFlowsInSlices } from './flows/reader.ts'
import { changeFlows, prepareChanges } from './flows/store.ts'
import {
  deadLetterIds,
  dropDeadLetters,
  listDeadLetters,
  retryDeadLetters,
} from './ledger/dead-letters.ts'
import { EventLogReader } from './ledger/event-log.ts'
import { readAudit, writeAudit } from './organisations/audit-log.ts'
import * as dashboard from './organisations/dashboard-sessions.ts'
import * as imageTable from './organisations/images.ts'
import {
  createToken,
  findToken,
  listTokens,
  noteTokenUse,
  revokeToken,
} from './organisations/management-tokens.ts'
import * as members from './organisations/members.ts'
import {
  addOrganisation,
  changeOrganisation,
  keysOf,
  pageOfOrganisations,
  readOrganisation,
} from './organisations/organisations.ts'
import * as segmentTable from './organisations/segments.ts'
import { linkStaging, readLinks, unlinkStaging } from './organisations/staging-links.ts'
import { identityHours } from './organisations/user-hashes.ts'
import { peopleListOver } from './people/people-list.ts'
import { personData } from './people/person-data.ts'
import { personEventsOver } from './people/person-events.ts'
import { runListOver } from './runs/run-rows.ts'
import { writtenTextsOver } from './runs/written-answers.ts'
import { looksOver, StepReader } from './steps/step-reader.ts'
import type { StorageCalls } from './writer/calls.ts'
import type { LongWork } from './writer/long-work.ts'

/** Reads over a connection, writes through storage, and does long work beside it. */
export function connectManagement(reading: Database, calls: StorageCalls, work: LongWork) {
  const { storage } = calls
  const { together } = storage
  type Method<Args extends unknown[], Result> = (database: Database, ...args: Args) => Result
  /** A read, as a method of a port. */
  const reads =
    <Args extends unknown[], Result>(read: Method<Args, Result>) =>
    async (...args: Args): Promise<Awaited<Result>> =>
      await read(reading, ...args)
  /** The same, after everything is taken up that other machines have stored. */
  const readsAll =
    <Args extends unknown[], Result>(read: Method<Args, Result>) =>
    async (...args: Args): Promise<Awaited<Result>> => {
      await storage.followed()
      return await read(reading, ...args)
    }
  /** A change, as a method of a port. */
  const changes =
    <Args extends unknown[], Result>(change: Method<Args, Result>) =>
    (...args: Args) =>
      calls.change(database => change(database, ...args))
  /** The same for what nobody asks for in the next moment. */
  const notes =
    <Args extends unknown[], Result>(change: Method<Args, Result>) =>
    (...args: Args) =>
      calls.change(database => change(database, ...args), true)
  const currentKey = (orgRow: number) =>
    keysOf(reading, orgRow, 0).find(({ worksUntil }) => worksUntil === null)?.key ?? null
  const seen: SeenStore = {
    async write() {
      // What is stored can be read even if nothing can be written.
      await calls.longWork(() => storage.writeSeen()).catch(() => {})
    },
    snippetKey: async orgRef => currentKey(rowOf(orgRef)),
  }
  const organisations: OrganisationStore = {
    most: maxOrganisations,
    list: reads(pageOfOrganisations),
    read: async (orgRef, now) => readOrganisation(reading, rowOf(orgRef), now),
    ...asPort<Pick<OrganisationStore, 'add' | 'change'>>({
      add: changes(addOrganisation),
      change: changes(changeOrganisation),
    }),
    async identityHours(orgRef, now) {
      await seen.write()
      return identityHours(reading)(rowOf(orgRef), now)
    },
  }
  const steps = new StepReader(reading)
  const eventLog = new EventLogReader(reading)
  const peopleList = peopleListOver(reading)
  const runs = first(storage.projected, {
    runs: runListOver(reading).runs,
    writtenTexts: writtenTextsOver(reading),
    stored: personData,
  })
  return {
    seen,
    organisations,
    flows: asPort<FlowStore>({
      read: reads(readFlowsInSlices),
      versions: reads(flowVersionsOf),
      version: reads(flowVersionOf),
      publishedParts: reads(publishedParts),
      async lastChange(orgRow, subject) {
        const [line] = readAudit(reading, orgRow, { subject, most: 1 })
        return line ? { by: line.actor.name, at: line.at } : null
      },
      async change(orgRow, changes) {
        const prepared = await inSlices(prepareChanges(reading, orgRow, changes), patientSlices())
        return calls.change(database => changeFlows(database, orgRow, prepared, storage.now))
      },
    }),
    explaining: asPort<ExplainStore>({
      read: reads(readFlowsInSlices),
      hasSnippetKey: async orgRow => currentKey(orgRow) !== null,
    }),
    looks: asPort<LookStore>(first(storage.followed, looksOver(reading, steps))),
    evidence: asPort<StepEvidenceStore>(first(storage.followed, steps)),
    runs: asPort<RunStore>({
      runs: runs.runs,
      writtenTexts: runs.writtenTexts,
    }),
    eventLog: asPort<EventLog>(first(storage.followed, eventLog)),
    activity: asPort<ActivityStore>({ after: (...args) => storage.readActivity(...args) }),
    segments: asPort<SegmentStore>({
      list: reads(segmentTable.listSegments),
      create: changes(segmentTable.createSegment),
      change: changes(segmentTable.changeSegment),
      remove: changes(segmentTable.removeSegment),
    }),
    peopleList: asPort<PeopleList>({
      ...first(storage.projected, peopleList),
      async *people(...args) {
        await storage.projected()
        yield* peopleList.people(...args)
      },
    }),
    people: asPort<PeopleStore>({
      stored: person => runs.stored(reading, person),
      events: first(storage.followed, { events: personEventsOver(reading, eventLog) }).events,
      async erase(person, options, audit, tell) {
        if (together && options.compact) throw compactsOneOnly()
        await storage.projected()
        return together
          ? calls.longWork(report => together.work.erase(person, audit, report), tell)
          : work.erase(person, options, audit, tell)
      },
      allow: (person, audit) =>
        together
          ? calls.longWork(() => together.work.allow(person, audit))
          : calls.change(database =>
              allowAgain(database, storage.dataDir, person, storage.now(), audit),
            ),
    }),
    operations: asPort<OperationsStore>({
      deadLetters: readsAll(listDeadLetters),
      deadLetterIds: readsAll(deadLetterIds),
      nodes: async () => together?.member?.all() ?? { isShared: false, change: 0, nodes: [] },
      retryDeadLetters: (...args) =>
        calls.change(database => retryDeadLetters(database, storage.withholding, ...args)),
      dropDeadLetters: changes(dropDeadLetters),
      async rebuild(audit, tell) {
        await storage.projected()
        return together
          ? calls.longWork(report => together.work.rebuild(audit, report), tell)
          : work.rebuild(audit, tell)
      },
      compact: work.compact,
    }),
    access: asPort<AccessStore>({
      tokens: reads(listTokens),
      createToken: changes(createToken),
      revokeToken: changes(revokeToken),
      audit: reads(readAudit),
    }),
    signIns: asPort<DashboardStore>({
      createLink: changes(dashboard.createLink),
      link: reads(dashboard.findLink),
      redeemLink: changes(dashboard.redeemLink),
      beginSession: changes(dashboard.beginSession),
      nameMember: changes(members.nameMember),
      endSession: changes(dashboard.endSession),
      endSessionsOf: changes(dashboard.endSessionsOf),
    }),
    members: asPort<MemberStore>({
      members: reads(members.listMembers),
      invitations: reads(members.listInvitations),
      invite: changes(members.invite),
      revokeInvitation: changes(members.revokeInvitation),
      linkMember: changes(members.linkMember),
      changeRole: changes(members.changeRole),
      removeMember: changes(members.removeMember),
    }),
    alerts: asPort<AlertStore>({
      watched: reads(alertTables.watchedOrganisations),
      settings: reads(alertTables.readSettings),
      changeSettings: changes(alertTables.changeSettings),
      countSends: changes(alertTables.countSends),
      webhooks: reads(alertTables.listWebhooks),
      addWebhook: changes(alertTables.addWebhook),
      changeWebhook: changes(alertTables.changeWebhook),
      rotateWebhook: changes(alertTables.rotateWebhook),
      removeWebhook: changes(alertTables.removeWebhook),
      alerts: reads(alertTables.listAlerts),
      record: changes(alertTables.recordAlerts),
      deliveries: reads(alertTables.listDeliveries),
      delivery: reads(alertTables.findDelivery),
      outgoing: reads(alertTables.outgoingDelivery),
      due: reads(alertTables.dueDeliveries),
      attempted: notes(alertTables.recordAttempt),
      replay: changes(alertTables.replayDelivery),
      forget: notes(alertTables.forgetAlerts),
    }),
    images: asPort<ImageStore>({
      list: reads(imageTable.listImages),
      add: changes(imageTable.addImage),
      remove: changes(imageTable.removeImage),
      content: reads(imageTable.imageContent),
    }),
    environments: asPort<EnvironmentStore>({
      links: reads(readLinks),
      link: changes(linkStaging),
      unlink: changes(unlinkStaging),
    }),
    tickets: {
      use: work => storage.useTickets(work),
      note: (orgRef, entry) =>
        calls.change(database => writeAudit(database, rowOf(orgRef), [entry])),
    } satisfies TicketStore,
    managementTokens: {
      find: sha256 => findToken(reading, sha256),
      used: noting(notes(noteTokenUse)),
    } satisfies KnownTokens,
    dashboardSessions: {
      find: sha256 => dashboard.findSession(reading, sha256),
      seen: noting(notes(dashboard.noteSeen)),
    } satisfies KnownSessions,
  }
}

const compactsOneOnly = () =>
  new AppError(
    'unsupported_by_database',
    'Several servers share this data, and each is compacted separately: stop each in turn, and run "cairn compact" there',
  )

const maxNoted = 10_000

/** Notes something once a minute at most, because callers may call many times in a minute. */
function noting(note: (name: string, at: number) => Promise<unknown>) {
  const noted = new Map<string, number>()
  return (name: string, at: number) => {
    if (at - (noted.get(name) ?? 0) < minuteMs) return
    if (noted.size >= maxNoted) noted.clear()
    noted.set(name, at)
    note(name, at).catch(() => noted.delete(name))
  }
}
