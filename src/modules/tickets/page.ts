import { invalid } from '../../core/errors.ts'
import type { FlowDefinition, UrlRule } from '../../core/flow/flow.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'

type Origins = Pick<Organisation, 'origins'>

const wrongUrl = (message: string) => invalid({ path: '/url', message })

/** The URL of a page that may hold a ticket. @throws AppError `validation_failed` */
export function pageOf(url: string, { origins }: Origins): URL {
  const page = URL.parse(url)
  if (page === null || !/^https?:$/.test(page.protocol)) {
    throw wrongUrl('Must be a complete URL that starts with https:// or http://')
  }
  if (page.username !== '' || page.password !== '') {
    throw wrongUrl('Must not contain a user name or password')
  }
  if (origins !== null && !origins.has(page.origin)) {
    throw wrongUrl('Must have an origin that the settings of the organisation list')
  }
  return page
}

/** The only web origin of an organisation, if it lists exactly one. */
function onlyOrigin({ origins }: Origins): string | undefined {
  const ofWeb = [...(origins ?? [])].filter(origin => /^https?:/.test(origin))
  return ofWeb.length === 1 ? ofWeb[0] : undefined
}

/** The addresses in a flow's rules that are complete as they are, without wildcards. */
function namedBy({ steps, targeting }: FlowDefinition): string[] {
  const rules: (UrlRule | null | undefined)[] = [steps[0]?.page, ...targeting.urls]
  return rules.flatMap(rule =>
    !rule || rule.match === 'regex' || (rule.match === 'glob' && rule.pattern.includes('*'))
      ? []
      : [rule.pattern],
  )
}

/**
 * The page to preview a flow on: the requested one, otherwise one that the flow's own rules name, otherwise
 * the first page of the organisation's only origin.
 *
 * @throws AppError `validation_failed`
 */
export function previewPageOf(
  url: string | undefined,
  definition: FlowDefinition,
  organisation: Origins,
): URL {
  const base = onlyOrigin(organisation)
  if (url !== undefined) return pageOf(URL.parse(url, base)?.href ?? url, organisation)
  const isAllowed = ({ origin, protocol }: URL) =>
    /^https?:$/.test(protocol) && (organisation.origins?.has(origin) ?? true)
  const named = [...namedBy(definition), ...(base === undefined ? [] : ['/'])]
  const page = named.flatMap(one => URL.parse(one, base) ?? []).find(isAllowed)
  if (page) return page
  throw wrongUrl('Is required, because neither the flow nor the organisation names a page')
}
