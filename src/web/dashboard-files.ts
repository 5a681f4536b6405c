import { bundledDashboard } from './dashboard-bundle.ts' with { type: 'macro' }

/** The dashboard as browsers load it; made while Cairn is built. */
export const dashboard = bundledDashboard()
