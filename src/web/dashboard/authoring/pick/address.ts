import { useRead } from '../../api/read.ts'
import { session } from '../../api/session.ts'
import { type DraftAnswer, flowPath } from '../../flows/definition.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { stored, storeSetting } from '../../shell/settings.ts'
import { healthPath, type StepCheck } from '../../steps/health.ts'

interface Rule {
  match: string
  pattern: string
}

/** The fields of a flow that say where it is shown. */
interface Placed {
  targeting?: { urls?: readonly Rule[] }
  steps?: readonly { key: string; page?: Rule }[]
}

const nameOf = (flowKey: string) => `page:${session.value?.organisation.slug}/${flowKey}`

/** Remembers the page on which somebody has picked, only in this browser. */
export const rememberAddress = (flowKey: string, address: string): void =>
  storeSetting(nameOf(flowKey), address)

/** The address that a rule names, if it names one. A path is relative to the known page. */
function addressIn({ match, pattern }: Rule, known: string | null): string | null {
  if (match === 'glob' && pattern.includes('*')) return null
  return URL.canParse(pattern) ? pattern : (known && URL.parse(pattern, known)?.href) || null
}

/**
 * The page that is most probably meant: the one of last time, else the one that the step's or the
 * flow's rule names, else one on which the step was seen. Empty if nothing is known.
 */
export function useAddress(flowKey: string, stepKey: string): string {
  const remembered = stored(nameOf(flowKey))
  const isKnown = remembered !== null
  const listed = useRead<FlowList>(isKnown ? null : flowsPath)
  // A flow that is not stored yet has no draft to ask for.
  const isStored = listed.data?.flows.some(({ key }) => key === flowKey) === true
  const draft = useRead<DraftAnswer>(isStored ? flowPath(flowKey, '/draft') : null)
  const health = useRead<StepCheck>(isKnown ? null : healthPath)
  if (isKnown) return remembered
  const ofFlow = health.data?.steps.filter(({ flow }) => flow === flowKey) ?? []
  const pages = [...ofFlow.filter(({ step }) => step === stepKey), ...ofFlow].flatMap(
    ({ pages: seen }) => seen.flatMap(({ page }) => page ?? []),
  )
  const [seen = null] = pages
  const { targeting, steps: written } = (draft.data?.definition ?? {}) as Placed
  const ofStep = written?.find(({ key }) => key === stepKey)?.page
  for (const rule of [...(ofStep ? [ofStep] : []), ...(targeting?.urls ?? [])]) {
    const address = addressIn(rule, seen)
    if (address) return address
  }
  return seen ?? ''
}
