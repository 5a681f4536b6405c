import { invalid } from '../../core/errors.ts'
import type { FlowDefinition, UrlRule } from '../../core/flow/flow.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { pageOf } from '../author/service.ts'

/** The only web origin of an organisation, if it lists exactly one. */
function onlyOrigin({ origins }: Pick<Organisation, 'origins'>): string | undefined {
  const ofWeb = [...(origins ?? [])].filter(origin => /^https?:/.test(origin))
  return ofWeb.length === 1 ? ofWeb[0] : undefined
}

/** The addresses in a flow's rules that are complete as they are, without wildcards. */
function namedBy({ steps, targeting }: FlowDefinition): string[] {
  const rules: (UrlRule | null | undefined)[] = [steps[0]?.page, ...targeting.urls]
  return rules.flatMap(rule =>
    !rule || (rule.match === 'glob' && rule.pattern.includes('*')) ? [] : [rule.pattern],
  )
}

/**
 * The page on which a draft is looked at: the given one, otherwise one that the flow's own rules name,
 * otherwise the first page of the organisation's only origin.
 *
 * @throws AppError `validation_failed`
 */
export function pageFor(
  url: string | undefined,
  definition: FlowDefinition,
  organisation: Pick<Organisation, 'origins'>,
): URL {
  const base = onlyOrigin(organisation)
  if (url !== undefined) return pageOf(URL.parse(url, base)?.href ?? url, organisation)
  const isAllowed = ({ origin, protocol }: URL) =>
    /^https?:$/.test(protocol) && (organisation.origins?.has(origin) ?? true)
  const named = [...namedBy(definition), ...(base === undefined ? [] : ['/'])]
  const page = named.flatMap(one => URL.parse(one, base) ?? []).find(isAllowed)
  if (page) return page
  const message = "Name a page: neither the flow nor the organisation's origins have one"
  throw invalid({ path: '/url', message })
}
