import type { ManagementStores, Stores } from '../../../src/app.ts'
import type { Catalogue } from '../../../src/core/organisation/catalogue.ts'
import type { HandClock } from '../../support/hand-clock.ts'
import { rounds } from '../../support/rounds.ts'

/**
 * A store as the conformance suite gets it: its ports, a clock that the suite moves, and operations from
 * outside that no port offers.
 */
export interface Store {
  readonly stores: Stores
  readonly management: ManagementStores
  readonly clock: HandClock
  /**
   * Has one machine of several answer everything from now on. What a machine has in memory is its own: what erased
   * people report, and clock skews until they are written.
   */
  alone?(): void
  /** Finishes all background work that only serves speed. */
  settle(): Promise<void>
  /** Deletes what is older than this many days, or an organisation's own period, as the background does. */
  retain(days: number): Promise<void>
  /** Makes the database refuse every write that contains the text, until the returned function is called. */
  refuse(text: string): Promise<() => Promise<void>>
  /** Which of the texts are anywhere in its files; none if it cannot tell. */
  traces(texts: readonly string[]): readonly string[] | Promise<readonly string[]>
  /** Stops it as a server stops, and starts it again over the same data. The ports are new ones then. */
  reopen(): Promise<void>
  close(): Promise<void>
}

/**
 * How many random cases a law is tried with, given the usual number: fewer where each takes many round
 * trips to a server.
 */
export type Rounds = (byDefault: number) => number

/** The number that the environment sets, otherwise the default. */
export const defaultRounds: Rounds = byDefault =>
  Number(process.env.CAIRN_TEST_HISTORIES ?? rounds(byDefault))

/** Opens a store that holds nothing yet. */
export type OpenStore = () => Promise<Store>

/** The names of a port's methods. Leaving one out, or naming one too many, is a type error. */
type Methods<Port> = {
  [Name in keyof Port as Required<Port>[Name] extends (...args: never[]) => unknown
    ? Name
    : never]-?: true
}

type MethodsOfAll<Ports> = { [Name in keyof Ports]: Methods<Ports[Name]> }

const ofCatalogue: Methods<Catalogue> = {
  snippetKey: true,
  oldKeysEndAt: true,
  organisationByName: true,
  flow: true,
  step: true,
  item: true,
  publishedFlows: true,
  publishedFlow: true,
  itemsCompletedBy: true,
}

const ofStores: MethodsOfAll<Omit<Stores, 'catalogue'>> = {
  ledger: { requireRoom: true, append: true, complete: true, tick: true },
  checklists: { progress: true, version: true },
  people: { histories: true, caused: true },
  steps: { recordHealth: true, recordFingerprint: true, healthCounts: true },
  presence: {
    mark: true,
    recordSnippetVersion: true,
    recordRejectedOrigin: true,
    recordLimited: true,
    reserveBeat: true,
    countUserHashes: true,
    read: true,
    since: true,
  },
  analytics: {
    runs: true,
    answers: true,
    events: true,
    columns: true,
    lastStart: true,
    experiment: true,
  },
  watch: { isWatched: true, note: true },
}

const ofManagement: MethodsOfAll<ManagementStores> = {
  flows: {
    read: true,
    change: true,
    versions: true,
    version: true,
    publishedParts: true,
    lastChange: true,
  },
  looks: { looks: true, suggested: true },
  runs: { runs: true, writtenTexts: true },
  eventLog: { after: true },
  activity: { after: true },
  images: { list: true, add: true, remove: true, content: true },
  environments: { links: true, link: true, unlink: true },
  tickets: { use: true, note: true },
  seen: { write: true, snippetKey: true },
  explaining: { read: true, hasSnippetKey: true },
  evidence: { evidence: true, between: true, baseline: true },
  access: { tokens: true, createToken: true, revokeToken: true, audit: true },
  organisations: { list: true, add: true, read: true, change: true, identityHours: true },
  segments: { list: true, create: true, change: true, remove: true },
  peopleList: { people: true, first: true, count: true, person: true, metFlows: true },
  people: { stored: true, events: true, erase: true, allow: true },
  operations: {
    deadLetters: true,
    deadLetterIds: true,
    nodes: true,
    retryDeadLetters: true,
    dropDeadLetters: true,
    rebuild: true,
    compact: true,
  },
  signIns: {
    createLink: true,
    link: true,
    redeemLink: true,
    beginSession: true,
    nameMember: true,
    endSession: true,
    endSessionsOf: true,
  },
  members: {
    members: true,
    invitations: true,
    invite: true,
    revokeInvitation: true,
    linkMember: true,
    changeRole: true,
    removeMember: true,
  },
  alerts: {
    watched: true,
    settings: true,
    changeSettings: true,
    countSends: true,
    webhooks: true,
    addWebhook: true,
    changeWebhook: true,
    rotateWebhook: true,
    removeWebhook: true,
    alerts: true,
    record: true,
    deliveries: true,
    delivery: true,
    outgoing: true,
    due: true,
    attempted: true,
    replay: true,
    forget: true,
  },
  managementTokens: { find: true, used: true },
  dashboardSessions: { find: true, seen: true },
}

const namesIn = (group: string, ports: object) =>
  Object.entries(ports).flatMap(([port, methods]) =>
    Object.keys(methods).map(method => `${group}.${port}.${method}`),
  )

/** Every method of every port. */
export const allMethods: readonly string[] = [
  ...namesIn('stores', { catalogue: ofCatalogue, ...ofStores }),
  ...namesIn('management', ofManagement),
]

/** A port that notes which of its methods are called. */
const noting = <Port extends object>(port: Port, name: string, called: Set<string>): Port =>
  new Proxy(port, {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        called.add(`${name}.${String(key)}`)
        return value.apply(target, args)
      }
    },
  })

/** The ports of a group, each of which notes its calls. */
const notingAll = <Ports extends object>(ports: Ports, group: string, called: Set<string>): Ports =>
  new Proxy(ports, {
    get(target, key) {
      const port: unknown = Reflect.get(target, key)
      const name = `${group}.${String(key)}`
      if (typeof port === 'function') return () => noting(port.call(target), name, called)
      return noting(port as object, name, called)
    },
  })

/** A store that notes which methods of its ports are called. */
export const notingCalls = (store: Store, called: Set<string>): Store => ({
  get stores() {
    return notingAll(store.stores, 'stores', called)
  },
  get management() {
    return notingAll(store.management, 'management', called)
  },
  clock: store.clock,
  alone: () => store.alone?.(),
  settle: () => store.settle(),
  retain: days => store.retain(days),
  refuse: text => store.refuse(text),
  traces: texts => store.traces(texts),
  reopen: () => store.reopen(),
  close: () => store.close(),
})
