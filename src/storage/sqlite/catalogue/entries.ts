import type * as catalogue from '../../../core/organisation/catalogue.ts'
import type { InRows } from '../../shared/in-rows.ts'

/** The entries of the catalogue, with row numbers as references. */

export type Organisation = InRows<catalogue.Organisation>
export type FlowVersion = InRows<catalogue.FlowVersion>
export type FlowEntry = InRows<catalogue.FlowEntry>
export type StepEntry = InRows<catalogue.StepEntry>
export type ItemEntry = InRows<catalogue.ItemEntry>
export type SnippetKey = InRows<catalogue.SnippetKey>
export type PublishedFlows = InRows<catalogue.PublishedFlows>
