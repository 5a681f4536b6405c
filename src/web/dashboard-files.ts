import { unpacked } from '../core/text/packed.ts'
import { packedDashboard } from './dashboard-bundle.ts' with { type: 'macro' }
import type { DashboardBundle } from './dashboard-bundle.ts'

/** The dashboard as browsers load it; made while Cairn is built. */
export const dashboard = unpacked<DashboardBundle>(packedDashboard())
