import { defaultLimits } from '../../src/core/organisation/buckets.ts'
import type { Table } from '../report/table.ts'
import { rounded } from './figures.ts'

/** What one cheap VM carries, computed from what requests cost on the machine of the bench. */

/** CPU that each request took, microseconds. */
export interface RequestCosts {
  flows: number
  knownFlows: number
  heartbeat: number
  /** A batch of as many events as a visit sends at a time. */
  fewEvents: number
  /** A batch of the largest size. */
  fullBatch: number
  healthReport: number
  fingerprint: number
  status: number
}

/** The cheap VM, and how much of it is to be used. */
export const vm = {
  cpus: 2,
  /** A shared vCPU takes this many times as long as a core of the measured machine. */
  slowness: 2,
  /** The share used in the busiest hour; the rest is for exports, analytics and the neighbours. */
  usedShare: 0.5,
  /** How much busier that hour is than the day's mean. */
  peak: 2.5,
}

/** What a person's visit sends. */
export const visit = { newFlows: 0.1, knownFlows: 0.9, heartbeats: 1, batches: 3, healthReports: 1 }

const minuteSeconds = 60
const daySeconds = 86_400

export interface Capacity {
  /** CPU that the VM may spend in a second, in microseconds of the measured machine. */
  budgetMicros: number
  /** CPU of a visit, and of a minute of an organisation that uses all of its snippet's limits. */
  visitMicros: number
  fullMinuteMicros: number
  visitorsPerDay: number
  organisationsAtLimits: number
}

export function capacityOf(costs: RequestCosts): Capacity {
  const budgetMicros = (vm.cpus * vm.usedShare * 1e6) / vm.slowness
  const visitMicros =
    visit.newFlows * costs.flows +
    visit.knownFlows * costs.knownFlows +
    visit.heartbeats * costs.heartbeat +
    visit.batches * costs.fewEvents +
    visit.healthReports * costs.healthReport
  const fullMinuteMicros =
    defaultLimits.events * costs.fullBatch +
    defaultLimits.flows * costs.knownFlows +
    defaultLimits.fingerprint * costs.fingerprint +
    defaultLimits.health * costs.healthReport +
    defaultLimits.heartbeat * costs.heartbeat +
    defaultLimits.status * costs.status
  return {
    budgetMicros,
    visitMicros,
    fullMinuteMicros,
    visitorsPerDay: (budgetMicros * daySeconds) / vm.peak / visitMicros,
    organisationsAtLimits: Math.floor((budgetMicros * minuteSeconds) / fullMinuteMicros),
  }
}

/** Such a figure is worth two digits at most. */
const roughly = (value: number) => Number(value.toPrecision(2)).toLocaleString('en-US')

export function capacityTable(costs: RequestCosts): Table {
  const capacity = capacityOf(costs)
  const micros = (value: number) => `${rounded(value)} µs`
  const { events, flows, fingerprint, health, heartbeat, status } = defaultLimits
  const budget = `${rounded(capacity.budgetMicros / 1e6)} s`
  return {
    title: `What a VM with ${vm.cpus} shared vCPU carries`,
    header: ['what', 'CPU', 'arithmetic'],
    rows: [
      [
        'the VM, a second',
        budget,
        `${vm.cpus} vCPU, each a core ÷ ${vm.slowness}, used to ${vm.usedShare * 100} %`,
      ],
      [
        'a visit',
        micros(capacity.visitMicros),
        `flows ${visit.newFlows} × ${micros(costs.flows)} + 304 ${visit.knownFlows} × ${micros(costs.knownFlows)} + heartbeat ${micros(costs.heartbeat)} + 10 events in ${visit.batches} × ${micros(costs.fewEvents)} + health report ${micros(costs.healthReport)}`,
      ],
      [
        `**${roughly(capacity.visitorsPerDay)} visits a day**`,
        budget,
        `${budget} × 86,400 ÷ ${micros(capacity.visitMicros)} ÷ ${vm.peak}, by which the busiest hour exceeds the mean`,
      ],
      [
        'an organisation at all limits, a minute',
        micros(capacity.fullMinuteMicros),
        `${events} batches of 50 × ${micros(costs.fullBatch)} + flows ${flows} × ${micros(costs.knownFlows)} + fingerprints ${fingerprint} × ${micros(costs.fingerprint)} + health ${health} × ${micros(costs.healthReport)} + heartbeats ${heartbeat} × ${micros(costs.heartbeat)} + status ${status} × ${micros(costs.status)}`,
      ],
      [
        `**${roughly(capacity.organisationsAtLimits)} organisations at all limits, at once**`,
        budget,
        `${budget} × 60 ÷ ${micros(capacity.fullMinuteMicros)}; they send ${roughly((capacity.organisationsAtLimits * events * 50) / minuteSeconds)} events a second`,
      ],
    ],
  }
}
